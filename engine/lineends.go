package engine

import "bytes"

var cr, lf, crlf = []byte("\r"), []byte("\n"), []byte("\r\n")

// Matches reports whether the file has a digest, given as 64 hex digits, "" for no file,
// apart from its line ends: a text counts as unchanged if git has checked it out with CR
// LF for every LF, or with LF for every CR LF. A file is compared byte for byte if its
// line ends are mixed, if it contains a NUL or another CR, or if only its digest is known.
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
