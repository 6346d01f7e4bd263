package engine

import "bytes"

var cr, lf, crlf = []byte("\r"), []byte("\n"), []byte("\r\n")

// Matches reports whether the file is the one of a digest, whatever its line ends: a text
// that git has checked out with CR LF in the place of every LF, or with LF in the place of
// every CR LF, says what it said. A file that has other line ends in some places alone, or
// a NUL, or a CR elsewhere, is compared byte for byte, and so is one of which only the
// digest is known. The digest is given as 64 hex digits, "" for no file.
func (d Document) Matches(sum string) bool {
	if d.Sum.Hex() == sum || sum == "" {
		return d.Sum.Hex() == sum
	}
	returns, ends := bytes.Count(d.Body, cr), bytes.Count(d.Body, lf)
	switch {
	case ends == 0 || bytes.IndexByte(d.Body, 0) >= 0:
		return false
	case returns == 0:
		return Sum(bytes.ReplaceAll(d.Body, lf, crlf)).Hex() == sum
	case returns == ends && returns == bytes.Count(d.Body, crlf):
		return Sum(bytes.ReplaceAll(d.Body, crlf, lf)).Hex() == sum
	}
	return false
}
