package setup

import (
	"errors"
	"syscall"

	"placet/cmd/placet/console"
	"placet/engine/store/fs"
	"placet/templates"
)

// remote are the file systems that other machines change without an event here, by their
// numbers in statfs(2).
var remote = map[int64]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9P", 0x65735546: "FUSE",
	0x5346414f: "AFS", 0x00c36400: "Ceph",
}

// RemoteName returns the kind of a file system on which other machines may write, "" for a
// local one.
func RemoteName(root string) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(root, &s); err != nil {
		return ""
	}
	return remote[int64(s.Type)&0xffffffff]
}

// fileSystem checks whether changes cause events, and whether locks hold.
func (e *examination) fileSystem() {
	var s syscall.Statfs_t
	if err := syscall.Statfs(e.root, &s); err != nil {
		e.add(isWarning, "files", "", "cli.doctor.files.unknown", "error", err)
		return
	}
	if name := RemoteName(e.root); name != "" {
		e.add(isWarning, "files", "", "say.text", "text", name+": "+NoEvents.In(e.w.Lang))
	} else {
		e.add(isFine, "files", "", "cli.doctor.files.local")
	}
	if free := s.Bavail * uint64(s.Bsize); free < 16<<20 {
		e.add(isProblem, "files", e.w.Text("cli.doctor.files.free"), "cli.doctor.files.space", "kib", free>>10)
	} else if s.Files > 0 && s.Ffree < 256 {
		e.add(isProblem, "files", e.w.Text("cli.doctor.files.free"), "cli.doctor.files.inodes", "inodes", s.Ffree)
	}
	if err := locks(e.root); err != nil {
		e.add(isWarning, "locks", e.w.Text("cli.doctor.locks.none.do"), "cli.doctor.locks.none", "error", err)
	} else {
		e.add(isFine, "locks", "", "cli.doctor.locks.fine")
	}
}

// locks checks whether flock keeps a second process out.
func locks(root string) error {
	disk := fs.OS(root)
	return tryFile(disk, func(name string, first fs.File) error {
		if err := first.TryLock(); err != nil {
			return err
		}
		second, err := disk.Open(name, fs.ForLockingExisting, 0)
		if err != nil {
			return console.Plain(err)
		}
		defer second.Close()
		if err := second.TryLock(); !errors.Is(err, fs.ErrBusy) {
			return templates.Errorf("cli.doctor.locks.twice")
		}
		return nil
	})
}
