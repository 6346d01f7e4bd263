package sqlite

import (
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite opens files by name: it first resolves the links of a name and then opens what
// it has found. Anybody who exchanges a name for a link in between chooses the file that
// gets the rows. The VFS of this file is SQLite's own for unix except for two functions.
// It uses names unchanged, and it accepts an open file only if that is the file with the
// name in the database's folder, which is held open from before.

// openFolder is the folder of a database, held open, and what SQLite may open in it.
type openFolder struct {
	*os.Root
	self *os.File
	base string      // the last part of the database's name
	file os.FileInfo // the database
	// number is the key of the folder in openFolders.
	number int64
}

// openFolders holds the folders of the connections, by the number that SQLite passes.
var (
	openFolders sync.Map
	lastFolder  atomic.Int64
)

// openFolder opens the folder of a database part by part, and follows no link.
func (d *Databases) openFolder(name string) (*openFolder, error) {
	home, err := d.checkWorkspace()
	if err != nil {
		return nil, err
	}
	root, err := home.OpenRoot(".")
	for _, part := range strings.Split(path.Dir(name), "/") {
		if err != nil {
			return nil, err
		}
		above := root
		root, err = openPart(above, part)
		above.Close()
	}
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	f := &openFolder{Root: root, self: self, base: path.Base(name), number: lastFolder.Add(1)}
	openFolders.Store(f.number, f)
	return f, nil
}

// openPart opens a folder in another one if the name is that folder's own: Lstat must not
// describe a link, and the opened folder must be the one that Lstat has described.
func openPart(above *os.Root, part string) (*os.Root, error) {
	named, err := above.Lstat(part)
	if err != nil {
		return nil, err
	}
	root, err := above.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = errReplaced
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func (f *openFolder) close() {
	openFolders.Delete(f.number)
	f.self.Close()
	f.Root.Close()
}

// name returns the name by which SQLite opens the database, and the parameters for that.
// If the system has a name for an open folder, that is a part of it: then changes of the
// names above cannot lead SQLite elsewhere, whichever call it makes. On other systems
// SQLite gets the folder's usual name, and the file that it opens is compared.
func (f *openFolder) name(usual string) (string, url.Values) {
	dir := usual
	if own := "/proc/self/fd/" + strconv.Itoa(int(f.self.Fd())); f.isAt(own) {
		dir = own
	}
	return filepath.Join(dir, f.base), url.Values{"vfs": {vfsName}, folderParameter: {strconv.FormatInt(f.number, 10)}}
}

// isAt reports whether a name leads to the folder.
func (f *openFolder) isAt(name string) bool {
	there, err := os.Stat(name)
	if err != nil {
		return false
	}
	ours, err := f.self.Stat()
	return err == nil && os.SameFile(there, ours)
}

// holds reports whether a descriptor of SQLite's is open for the file with a name in the
// folder: the database that was found, or a file beside it that has no other name.
func (f *openFolder) holds(fd int32, name string) bool {
	var open syscall.Stat_t
	if syscall.Fstat(int(fd), &open) != nil {
		return false
	}
	most := int64(mostLog)
	if name == f.base {
		if most = mostFile; !isFile(f.file, &open) {
			return false
		}
	}
	named, err := statRegular(f.Root, name, most)
	return err == nil && isFile(named, &open)
}

// isFile reports whether a file is the one of an open descriptor, which open describes.
func isFile(named os.FileInfo, open *syscall.Stat_t) bool {
	st, is := named.Sys().(*syscall.Stat_t)
	return is && st.Dev == open.Dev && st.Ino == open.Ino
}

const (
	vfsName         = "placet"
	folderParameter = "placet_folder" // parameter of a database's URI: the number of its folder
)

// unixVFS is SQLite's own VFS, and checkedVFS its copy with the two functions. Neither
// may move, because SQLite keeps their addresses.
var (
	unixVFS    uintptr
	checkedVFS sqlite3.Tsqlite3_vfs
)

// registerVFS makes the VFS known to SQLite, once.
var registerVFS = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	if unixVFS = sqlite3.Xsqlite3_vfs_find(tls, 0); unixVFS == 0 {
		return errors.New("SQLite has no VFS of its own")
	}
	name, err := libc.CString(vfsName)
	if err != nil {
		return err
	}
	checkedVFS = *at[sqlite3.Tsqlite3_vfs](unixVFS)
	checkedVFS.FzName, checkedVFS.FpNext = name, 0
	checkedVFS.FxFullPathname, checkedVFS.FxOpen = pointer(takeName), pointer(openChecked)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&checkedVFS)), 0); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite takes no VFS (" + strconv.Itoa(int(rc)) + ")")
	}
	return nil
})

// at returns the value at an address of SQLite's memory, which no collector moves.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// pointer returns a function in the form in which SQLite, translated to Go, calls it.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the inverse of pointer.
func function[F any](f uintptr) F { return *(*F)(unsafe.Pointer(&f)) }

type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeFunc = func(tls *libc.TLS, file uintptr) int32
)

// takeName is xFullPathname: it uses a name unchanged.
func takeName(tls *libc.TLS, _, name uintptr, size int32, out uintptr) int32 {
	n := libc.Xstrlen(tls, name) + 1
	if int64(n) > int64(size) {
		return sqlite3.SQLITE_CANTOPEN
	}
	libc.Xmemcpy(tls, out, name, n)
	return sqlite3.SQLITE_OK
}

// openChecked is xOpen. A file without a name is a temporary one of SQLite's. Otherwise
// it opens only a database, its journal and its log: a further file that a journal names
// is not placet's.
func openChecked(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	*at[uintptr](file) = 0 // the file's methods: nothing is open yet
	folder := folderOf(tls, name, flags)
	if name != 0 && folder == nil {
		return sqlite3.SQLITE_CANTOPEN
	}
	rc := function[openFunc](at[sqlite3.Tsqlite3_vfs](unixVFS).FxOpen)(tls, vfs, name, file, flags, out)
	if rc != sqlite3.SQLITE_OK || name == 0 || folder.holds(at[sqlite3.TunixFile](file).Fh, path.Base(libc.GoString(name))) {
		return rc
	}
	function[closeFunc](at[sqlite3.Tsqlite3_io_methods](*at[uintptr](file)).FxClose)(tls, file) // this takes the methods away, too
	return sqlite3.SQLITE_READONLY_DBMOVED
}

// folderOf returns the folder of the database that a file belongs to, nil for none.
// SQLite keeps the parameters only beside the names of a database, its journal and its
// log.
func folderOf(tls *libc.TLS, name uintptr, flags int32) *openFolder {
	const parts = sqlite3.SQLITE_OPEN_MAIN_DB | sqlite3.SQLITE_OPEN_MAIN_JOURNAL | sqlite3.SQLITE_OPEN_WAL
	if name == 0 || flags&parts == 0 {
		return nil
	}
	parameter, err := libc.CString(folderParameter)
	if err != nil {
		return nil
	}
	defer libc.Xfree(tls, parameter)
	value := sqlite3.Xsqlite3_uri_parameter(tls, sqlite3.Xsqlite3_filename_database(tls, name), parameter)
	number, err := strconv.ParseInt(libc.GoString(value), 10, 64)
	if err != nil {
		return nil
	}
	folder, _ := openFolders.Load(number)
	f, _ := folder.(*openFolder)
	return f
}
