package watch

import "golang.org/x/sys/unix"

// remoteFS reports whether a folder lies on a file system that others can
// change without this machine's knowing. Such a file system grants watches,
// and even tells what this machine does: only its kind gives it away.
func remoteFS(abs string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(abs, &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC:
		return true
	}
	return false
}
