package web

import (
	"bytes"
	"cmp"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"placet/engine/facade"
	"placet/templates"
)

// markdown renders texts of people and agents, for pages of each language. It leaves out nothing of a
// text: raw HTML is shown as text, and nothing is fetched from anywhere.
var markdown = sync.OnceValue(func() map[string]goldmark.Markdown {
	all := map[string]goldmark.Markdown{}
	for _, lang := range templates.Languages() {
		all[lang] = goldmark.New(
			// Columns are aligned by an attribute, because the pages' policy allows no style. The boxes of
			// a task list stay text, because they would look like the form's own.
			goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
			goldmark.WithRendererOptions(html.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(plainNodes{lang}, 1))),
		)
	}
	return all
})

// longestMarkdown limits the text that is rendered, in bytes; a longer one is shown plain.
const longestMarkdown = 512 << 10

// rendered returns a text as HTML, for a page of a language. level is the one of its first heading.
func rendered(lang, source string, level int) template.HTML {
	source = templates.Clean(source)
	md, body := cmp.Or(markdown()[lang], markdown()[templates.English]), []byte(source)
	if len(source) <= longestMarkdown {
		doc := md.Parser().Parse(text.NewReader(body))
		levelHeadings(doc, level)
		var out bytes.Buffer
		if md.Renderer().Render(&out, body, doc) == nil {
			return template.HTML(out.String())
		}
	}
	return template.HTML("<pre>" + template.HTMLEscapeString(source) + "</pre>")
}

// levelHeadings makes the headings of a text part of its page's: they begin at a level, and none
// leaves a level out.
func levelHeadings(doc ast.Node, level int) {
	above := level - 1
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			h.Level = min(h.Level+level-1, above+1, 6)
			above = h.Level
		}
		return ast.WalkContinue, nil
	})
}

// plainNodes renders the nodes that could lead elsewhere: raw HTML as text, images as links, and links
// with their targets.
type plainNodes struct{ lang string }

// RegisterFuncs implements [renderer.NodeRenderer].
func (p plainNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, renderHTMLBlock)
	r.Register(ast.KindRawHTML, renderRawHTML)
	r.Register(ast.KindFencedCodeBlock, renderFencedCode)
	r.Register(ast.KindImage, renderImage)
	r.Register(ast.KindLink, p.renderLink)
	r.Register(ast.KindAutoLink, p.renderAutoLink)
	r.Register(extast.KindTaskCheckBox, renderTask)
}

// renderTask shows the box of a task as a character: it cannot be ticked here.
func renderTask(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(map[bool]string{false: "☐ ", true: "☑ "}[node.(*extast.TaskCheckBox).IsChecked])
	}
	return ast.WalkContinue, nil
}

func renderHTMLBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.HTMLBlock)
	_, _ = w.WriteString("<pre>")
	writeLines(w, source, n)
	if n.HasClosure() {
		_, _ = w.Write(util.EscapeHTML(n.ClosureLine.Value(source)))
	}
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkSkipChildren, nil
}

// renderFencedCode shows a block, with the words beside its fence.
func renderFencedCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.FencedCodeBlock)
	if n.Info != nil {
		_, _ = w.WriteString(`<p class="target">`)
		_, _ = w.Write(util.EscapeHTML(n.Info.Segment.Value(source)))
		_, _ = w.WriteString("</p>\n")
	}
	code := strings.TrimSuffix(string(n.Lines().Value(source)), "\n")
	switch lang := strings.ToLower(string(n.Language(source))); {
	case lang == "diff" || lang == "patch":
		_, _ = w.WriteString(string(diffHTML(strings.Split(code, "\n"))))
	default:
		_, _ = w.WriteString(string(highlight(languages[lang], code)))
	}
	return ast.WalkSkipChildren, nil
}

// writeLines writes the lines of a block as they are.
func writeLines(w util.BufWriter, source []byte, block ast.Node) {
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(source)))
	}
}

func renderRawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.RawHTML)
	_, _ = w.WriteString("<code>")
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		_, _ = w.Write(util.EscapeHTML(segment.Value(source)))
	}
	_, _ = w.WriteString("</code>")
	return ast.WalkSkipChildren, nil
}

// renderImage shows an image's text and address; its bytes are not fetched.
func renderImage(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("[")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("]")
	n := node.(*ast.Image)
	writeTarget(w, string(n.Destination), string(n.Title))
	return ast.WalkContinue, nil
}

func (p plainNodes) renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	target := string(n.Destination)
	if entering {
		openLink(w, target)
		return ast.WalkContinue, nil
	}
	closeLink(w, target)
	writeTarget(w, target, string(n.Title))
	p.markLoopback(w, target)
	return ast.WalkContinue, nil
}

func (p plainNodes) renderAutoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	target := string(n.URL(source))
	openLink(w, target)
	_, _ = w.Write(util.EscapeHTML(n.Label(source)))
	closeLink(w, target)
	p.markLoopback(w, target)
	return ast.WalkContinue, nil
}

// isOutside reports whether a target is a page elsewhere, which a person may open. Paths of the workspace
// lead nowhere here.
func isOutside(target string) bool {
	u, err := url.Parse(target)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func openLink(w util.BufWriter, target string) {
	if isOutside(target) {
		_, _ = w.WriteString(`<a rel="noopener noreferrer nofollow" target="_blank" href="`)
		_, _ = w.Write(util.EscapeHTML(util.URLEscape([]byte(target), false)))
		_, _ = w.WriteString(`">`)
	}
}

func closeLink(w util.BufWriter, target string) {
	if isOutside(target) {
		_, _ = w.WriteString("</a>")
	}
}

// markLoopback says of a link that it leads to a program on the reader's own machine: the browser sends
// the cookie of placet's session to every port of the host at which it is logged in.
func (p plainNodes) markLoopback(w util.BufWriter, target string) {
	if isOutside(target) && facade.LeadsToLoopback(target) {
		_, _ = w.WriteString(` <strong class="loopback">`)
		_, _ = w.Write(util.EscapeHTML([]byte(templates.Text(p.lang, "page.loopback"))))
		_, _ = w.WriteString("</strong>")
	}
}

// writeTarget shows the target of a link, because its text may say something else, and its title, "" for
// none.
func writeTarget(w util.BufWriter, target, title string) {
	if title != "" {
		target += ` "` + title + `"`
	}
	_, _ = w.WriteString(` <span class="target">(`)
	_, _ = w.Write(util.EscapeHTML([]byte(target)))
	_, _ = w.WriteString(")</span>")
}
