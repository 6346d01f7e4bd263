//go:build unix

package watch

import (
	"encoding/binary"
	"hash/maphash"
	"time"

	"golang.org/x/sys/unix"
)

func printPath(h *maphash.Hash, abs string) {
	var st unix.Stat_t
	err := unix.Lstat(abs, &st)
	for err == unix.EINTR {
		err = unix.Lstat(abs, &st)
	}
	if err != nil {
		_, _ = h.WriteString(err.Error())
		_ = h.WriteByte(0)
		return
	}
	var b [64]byte
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(st.Mtim.Sec))
	le.PutUint64(b[8:], uint64(st.Mtim.Nsec))
	le.PutUint64(b[16:], uint64(st.Ctim.Sec))
	le.PutUint64(b[24:], uint64(st.Ctim.Nsec))
	le.PutUint64(b[32:], uint64(st.Size))
	le.PutUint64(b[40:], uint64(st.Ino))
	le.PutUint64(b[48:], uint64(st.Dev))
	le.PutUint64(b[56:], uint64(st.Mode))
	_, _ = h.Write(b[:])
}

// changedAt is when a file or folder last changed; it is false where that
// cannot be said.
func changedAt(abs string) (time.Time, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(abs, &st); err != nil {
		return time.Time{}, false
	}
	return time.Unix(st.Ctim.Unix()), true
}
