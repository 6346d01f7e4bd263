package templates

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"placet/internal/lazyregexp"
)

//go:embed en ko ja
var files embed.FS

// English is the language that has all texts.
const English = "en"

// Languages returns the languages of placet's texts, English first.
func Languages() []string { return slices.Clone(languages) }

var languages = []string{English, "ko", "ja"}

// AddPseudo adds the pseudo-language to the languages until remove is called. It is for a
// test that runs alone.
func AddPseudo() (remove func()) {
	before := languages
	languages = append(slices.Clone(before), Pseudo)
	return func() { languages = before }
}

// Pseudo is a language for tests: English, with everything translated between ⟦ and ⟧,
// except the values in a sentence, which must be translated by themselves.
const Pseudo = "xx"

// pseudo returns an English sentence in the pseudo-language.
func pseudo(english string) string {
	if english == "" {
		return ""
	}
	return "⟦" + placeholder.ReplaceAllString(english, "⟧$0⟦") + "⟧"
}

// placeholder matches the place of a value in a sentence.
var placeholder = lazyregexp.New(`\{[a-z_]+\}`)

// language holds one language's words and templates, completed with English. Each is read
// when it is first needed, because a process uses only one or two languages.
type language struct {
	words     func() map[string]string
	templates func() *template.Template
}

// spoken holds the languages. Their files are a part of the program: one that does not
// parse is an error of the build, and the tests read them all.
var spoken = func() map[string]language {
	all := map[string]language{}
	for _, lang := range []string{English, "ko", "ja", Pseudo} {
		words := sync.OnceValue(func() map[string]string { return completed(lang) })
		all[lang] = language{words, sync.OnceValue(func() *template.Template { return parse(lang, words()) })}
	}
	return all
}()

// completed returns the words of a language, with those of English where the language has
// none.
func completed(lang string) map[string]string {
	all := words(English)
	switch lang {
	case English:
	case Pseudo:
		for key, sentence := range all {
			all[key] = pseudo(sentence)
		}
	default:
		maps.DeleteFunc(all, func(key, _ string) bool { return strings.HasSuffix(key, one) })
		maps.Copy(all, words(lang))
	}
	return all
}

func words(lang string) map[string]string {
	body, err := files.ReadFile(lang + "/words.json")
	if err != nil {
		panic(err)
	}
	w := map[string]string{}
	if err := json.Unmarshal(body, &w); err != nil {
		panic(fmt.Errorf("%s/words.json: %w", lang, err))
	}
	return w
}

// parse parses the English templates, and then those of a language, which replace them,
// with the language's words.
func parse(lang string, words map[string]string) *template.Template {
	t := template.New(lang).Option("missingkey=error").Funcs(template.FuncMap{
		"quote": ofAny(Quote), "inline": ofAny(Inline), "dash": ofAny(OrDash),
		"fence": func(language string, v any) string { return fence(language, fmt.Sprint(v)) },
		"text":  func(key string) string { return word(words, key) },
	})
	for _, dir := range []string{English, lang} {
		if dir == Pseudo {
			continue // it has no files
		}
		for _, name := range names(dir) {
			body, err := files.ReadFile(dir + "/" + name + ".md")
			if err != nil {
				panic(err)
			}
			template.Must(t.New(name).Parse(string(body)))
		}
	}
	return t
}

// ofAny makes a function of a text accept any value, as fmt.Sprint words it.
func ofAny(f func(string) string) func(any) string {
	return func(v any) string { return f(fmt.Sprint(v)) }
}

// names lists the templates of one language, as "family/name".
func names(lang string) []string {
	var found []string
	err := fs.WalkDir(files, lang, func(p string, e fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(p, ".md"); ok && err == nil && !e.IsDir() {
			found = append(found, strings.TrimPrefix(name, lang+"/"))
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return found
}

// in returns a language, and English for one that placet does not know.
func in(lang string) language {
	if l, ok := spoken[lang]; ok {
		return l
	}
	return spoken[English]
}

// Render renders the template "family/name" in a language with its data. The error names what the data lacks, or the
// template that does not exist.
func Render(lang, name string, data any) (string, error) {
	t := in(lang).templates().Lookup(path.Clean(name))
	if t == nil {
		return "", fmt.Errorf("cannot render %q: there is no such template", name)
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("cannot render %q: %w", name, err)
	}
	return b.String(), nil
}

// Text returns a word or sentence in a language, in English if the language lacks it. A key
// that English lacks is its own text.
func Text(lang, key string) string { return word(in(lang).words(), key) }

// earlier ends the key of the form that a sentence had in an earlier version of placet.
const earlier = ".earlier"

// reworded maps each sentence that an earlier version worded differently to its earlier
// form.
var reworded = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, lang := range Languages() {
		w := words(lang)
		for key, sentence := range w {
			if key, ok := strings.CutSuffix(key, earlier); ok {
				all[w[key]] = sentence
			}
		}
	}
	return all
})

// ignoreStart and ignoreEnd are the lines around that part of a form that Prettier and markdownlint
// must leave as it is. Earlier versions did not write them.
// See https://prettier.io/docs/ignore#markdown and https://github.com/DavidAnson/markdownlint#configuration.
const (
	ignoreStart = "\n<!-- prettier-ignore-start -->\n<!-- markdownlint-disable-file -->\n"
	ignoreEnd   = "\n<!-- prettier-ignore-end -->\n"
)

// Earlier returns what earlier versions of placet wrote in place of a rendered text, as far as
// it differs, because such a text may still be on disk. A reworded sentence must be a line of
// its own.
func Earlier(text string) (all []string) {
	if before, after, ok := strings.Cut(text, ignoreStart); ok {
		if end := strings.LastIndex(after, ignoreEnd); end >= 0 {
			text = before + "\n" + after[:end] + "\n" + after[end+len(ignoreEnd):]
			all = append(all, text)
		}
	}
	lines, was := strings.Split(text, "\n"), false
	for i, line := range lines {
		if sentence, found := reworded()[line]; found {
			lines[i], was = sentence, true
		}
	}
	if was {
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}

func word(words map[string]string, key string) string {
	if s, ok := words[key]; ok {
		return s
	}
	return key
}
