package engine

import "bytes"

// DiffersInLineEnds reports whether the file is not the one of a digest, but would be with
// LF in the place of every CR LF, or with CR LF in the place of every LF: git, say, has
// checked it out with other line ends.
func (d Document) DiffersInLineEnds(from Digest) bool {
	if d.Sum == from || len(d.Body) == 0 {
		return false
	}
	lf := bytes.ReplaceAll(d.Body, []byte("\r\n"), []byte("\n"))
	return Sum(lf) == from || Sum(bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))) == from
}
