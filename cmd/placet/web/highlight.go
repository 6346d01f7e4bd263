package web

import (
	"bytes"
	"html/template"
	"path"
	"strings"
	"unicode/utf8"
)

// language says what the tokens of a language look like, as far as colours need it. The scanner of
// this file reads each byte once, whatever the text holds: a lexer of regular expressions took 80 to
// 400 ms for 64 KB, and a hostile text can make it take longer.
type language struct {
	line  []string    // what begins a comment that ends with its line
	block [][2]string // beginning and end of a comment, or of a text of several lines
	text  [][2]string // the same for texts
	quote string      // what begins and ends a text within a line
	words map[string]bool
	// keys says that what stands before a colon or an equals sign names a value, and fold that
	// words are written in any case.
	keys, fold bool
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

var (
	slashes = [][2]string{{"/*", "*/"}}
	likeC   = &language{line: []string{"//"}, block: slashes, text: [][2]string{{"`", "`"}}, quote: `"'`, words: wordSet(`
		abstract and as async await bool boolean break byte case catch chan char class const continue crate debugger default defer del delete do double else enum error
		export extends false final finally float fn for from fun func function go goto if impl implements import in instanceof int interface internal is let long loop map match mod module mut
		namespace new nil null object of operator override package private protected protocol pub public range readonly return select self sealed short static string struct super switch
		template this throw throws trait true try type typedef typeof undefined union unsafe unsigned use using val var virtual void volatile when where while with yield`)}
	likeScripts = &language{line: []string{"#"}, text: [][2]string{{`"""`, `"""`}, {"'''", "'''"}}, quote: `"'`, words: wordSet(`
		and as assert async await begin break case class continue data def del do done elif else elsif end ensure esac except exec exit export false False fi finally for from function
		global if import in is lambda local locals match module nil None nonlocal not or output pass provider raise require rescue resource return self set shift source then true True try unless
		until variable when while with yield FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE USER VOLUME LABEL`)}
	likeSettings = &language{line: []string{"#"}, text: [][2]string{{`"""`, `"""`}}, quote: `"'`, keys: true, words: wordSet("true false null yes no on off ~")}
	likeJSON     = &language{line: []string{"//"}, quote: `"`, keys: true, words: wordSet("true false null")}
	likeSQL      = &language{line: []string{"--"}, block: slashes, quote: `"'`, fold: true, words: wordSet(`
		add all alter and as asc begin between by cascade case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full grant
		group having if in index inner insert into is join key left like limit not null on or order outer primary references revoke right rollback select set table then truncate union
		unique update using values view when where with`)}
	likeXML = &language{block: [][2]string{{"<!--", "-->"}}, quote: `"'`, keys: true}
	likeCSS = &language{block: slashes, quote: `"'`, keys: true}
)

// languages are keyed by the ends of file names, by whole names, and by the words beside the fences
// of Markdown.
var languages = func() map[string]*language {
	all := map[string]*language{}
	for l, names := range map[*language]string{
		likeC:        "go js mjs cjs jsx ts tsx javascript typescript java kt kotlin c h cc cpp hpp c++ cs csharp rs rust swift scala php dart zig proto",
		likeScripts:  "py python rb ruby sh bash zsh shell pl r tf hcl makefile mk dockerfile containerfile",
		likeSettings: "yaml yml toml ini cfg conf env properties", likeJSON: "json jsonc json5 jsonl", likeSQL: "sql",
		likeXML: "html htm xml svg xhtml", likeCSS: "css scss less",
	} {
		for _, name := range strings.Fields(names) {
			all[name] = l
		}
	}
	return all
}()

// languageOf returns the language of a file, nil if its name does not say.
func languageOf(file string) *language {
	name := strings.ToLower(path.Base(file))
	if l := languages[name]; l != nil {
		return l
	}
	return languages[strings.TrimPrefix(path.Ext(name), ".")]
}

// highlight writes lines of code, cleaned before, each in an element of its own that has a number in
// the style sheet. Without a language it has no colours.
func highlight(l *language, code string) template.HTML {
	s := &scanner{language: l, code: code}
	s.out.WriteString(`<pre class="code"><code><span>`)
	for s.at < len(code) {
		if l == nil {
			s.write("", len(code))
			continue
		}
		s.next()
	}
	s.flush()
	s.out.WriteString("</span></code></pre>")
	return template.HTML(s.out.String())
}

// scanner divides code into tokens.
type scanner struct {
	*language
	code string
	out  bytes.Buffer
	at   int // what is before has been read,
	done int // and what is before this has been written
	// unended holds what does not end before a place in the code, so that its end is looked for once.
	unended map[string]int
}

// These are the classes of tokens.
const (
	tokenComment = "k-com"
	tokenText    = "k-str"
	tokenNumber  = "k-num"
	tokenWord    = "k-key"
	tokenName    = "k-name"
)

// next reads a token.
func (s *scanner) next() {
	switch c := s.code[s.at]; {
	case s.block(), s.quoted(c):
	case isWordByte(c):
		s.word()
	default:
		s.at++
	}
}

// block reads a comment, or a text of several lines.
func (s *scanner) block() bool {
	rest := s.code[s.at:]
	for _, begin := range s.line {
		if strings.HasPrefix(rest, begin) && (begin != "#" || s.at == 0 || strings.IndexByte(" \t\n;(", s.code[s.at-1]) >= 0) {
			s.write(tokenComment, s.at+lineLength(rest))
			return true
		}
	}
	for _, b := range s.language.block {
		if s.spans(tokenComment, b) {
			return true
		}
	}
	for _, b := range s.text {
		if s.spans(tokenText, b) {
			return true
		}
	}
	return false
}

// spans reads what has a beginning and an end.
func (s *scanner) spans(class string, b [2]string) bool {
	rest := s.code[s.at:]
	if !strings.HasPrefix(rest, b[0]) || s.at < s.unended[b[0]] {
		return false
	}
	end := strings.Index(rest[len(b[0]):], b[1])
	if end < 0 {
		s.noEnd(b[0], len(s.code))
		return false
	}
	s.write(class, s.at+len(b[0])+end+len(b[1]))
	return true
}

func (s *scanner) noEnd(begin string, before int) {
	if s.unended == nil {
		s.unended = map[string]int{}
	}
	s.unended[begin] = before
}

// quoted reads a text that ends in its line. A lone quotation mark is no text.
func (s *scanner) quoted(c byte) bool {
	if strings.IndexByte(s.quote, c) < 0 || s.at < s.unended[string(c)] {
		return false
	}
	for i := s.at + 1; i < len(s.code) && s.code[i] != '\n'; i++ {
		switch s.code[i] {
		case '\\':
			i++
		case c:
			class := tokenText
			if at := s.afterBlanks(i + 1); s.keys && at < len(s.code) && s.code[at] == ':' {
				class = tokenName
			}
			s.write(class, i+1)
			return true
		}
	}
	s.noEnd(string(c), s.at+lineLength(s.code[s.at:]))
	return false
}

// word reads a word or a number.
func (s *scanner) word() {
	end := s.at
	for end < len(s.code) && (isWordByte(s.code[end]) || s.keys && strings.IndexByte("-.", s.code[end]) >= 0) {
		end++
	}
	word := s.code[s.at:end]
	if s.fold {
		word = strings.ToLower(word)
	}
	switch {
	case s.keys && s.isKey(s.afterBlanks(end)):
		s.write(tokenName, end)
	case s.words[word]:
		s.write(tokenWord, end)
	case word[0] >= '0' && word[0] <= '9':
		s.write(tokenNumber, end)
	default:
		s.at = end
	}
}

// isKey reports whether a place in the code says that a name stands before it.
func (s *scanner) isKey(at int) bool {
	return at < len(s.code) && (s.code[at] == '=' || s.code[at] == ':' && (at+1 == len(s.code) || strings.IndexByte(" \n", s.code[at+1]) >= 0))
}

// afterBlanks returns the place after a few blanks, which align values.
func (s *scanner) afterBlanks(at int) int {
	for n := 0; n < 8 && at < len(s.code) && s.code[at] == ' '; n++ {
		at++
	}
	return at
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// write writes what was read before a token, and the token, which ends at a place in the code.
func (s *scanner) write(class string, end int) {
	s.flush()
	for at := s.done; at < end; {
		n := min(lineLength(s.code[at:]), end-at)
		s.lined(class, s.code[at:at+n])
		if at += n; at < end {
			s.out.WriteString("\n</span><span>")
			at++
		}
	}
	s.at, s.done = end, end
}

// flush writes what was read and is no token.
func (s *scanner) flush() {
	if end := s.at; s.done < end {
		s.at = s.done
		s.write("", end)
	}
}

// lined writes a part of a line.
func (s *scanner) lined(class, part string) {
	switch {
	case part == "":
	case class == "":
		template.HTMLEscape(&s.out, []byte(part))
	default:
		s.out.WriteString(`<span class="` + class + `">`)
		template.HTMLEscape(&s.out, []byte(part))
		s.out.WriteString("</span>")
	}
}
