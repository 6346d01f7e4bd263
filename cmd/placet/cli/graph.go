package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
)

func graphVerb() verb.Verb {
	var mermaid, watches bool
	return verb.Verb{
		Use:  "graph [RUN|FAMILY]",
		Most: 1, Group: verb.GroupUnderstand, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&mermaid, "mermaid", false, "")
			f.BoolVar(&watches, "watch", false, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			table := len(c.Args) > 0 && b.Serves(c.Args[0])
			switch {
			case watches && (table || len(c.Args) == 0):
				return console.Usage("cli.graph.watch.run")
			case watches && c.Env.Flags.JSON:
				return console.Usage("cli.graph.watch.json")
			case table:
				return showTable(b, c.Args[0], mermaid)
			case len(c.Args) == 0:
				return showPlans(b, mermaid)
			}
			f, err := view.OneRun(b, c.Args[0])
			if err != nil {
				return err
			}
			if watches {
				return watchPlan(c.Ctx, b, f, mermaid)
			}
			v := view.Of(b, f)
			if err := view.FillPlan(b, &v); err != nil {
				return err
			}
			return showPlan(b, v, mermaid)
		},
	}
}

// arrowLine leads from one part of a plan to one that comes after it, as JSON.
type arrowLine struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// arrows returns the arrows between the nodes of a plan; it leaves out those from unknown
// nodes.
func arrows(nodes []engine.Node) []arrowLine {
	known := map[string]bool{}
	for _, n := range nodes {
		known[n.ID] = true
	}
	var lines []arrowLine
	for i, n := range nodes {
		for _, from := range before(nodes, i) {
			if known[from] {
				lines = append(lines, arrowLine{from, n.ID})
			}
		}
	}
	return lines
}

// levelLine is one group of a plan, with its nodes, as JSON.
type levelLine struct {
	Name  string   `json:"name"`
	Nodes []string `json:"nodes"`
}

func levels(nodes []engine.Node) []levelLine {
	var lines []levelLine
	for i, n := range nodes {
		if i == 0 || nodes[i-1].Group != n.Group {
			lines = append(lines, levelLine{Name: n.Group})
		}
		last := &lines[len(lines)-1]
		last.Nodes = append(last.Nodes, n.ID)
	}
	return lines
}

// showPlans draws the plans of the runs that have not ended.
func showPlans(b *workspace.Workspace, mermaid bool) error {
	live, _ := view.Live(b, b.Runs())
	views := view.Runs(b, live)
	plans := []map[string]any{}
	for i := range views {
		if err := view.FillPlan(b, &views[i]); err != nil {
			return err
		}
		plans = append(plans, planData(b.Env, views[i], mermaid))
	}
	return b.Env.Answer(map[string]any{"runs": plans}, func() {
		for _, v := range views {
			printPlan(b, v, mermaid)
		}
		if len(views) == 0 {
			b.Env.Note("cli.graph.none")
		}
	})
}

func showPlan(b *workspace.Workspace, v view.Run, mermaid bool) error {
	return b.Env.Answer(planData(b.Env, v, mermaid), func() { printPlan(b, v, mermaid) })
}

// planData returns a plan as JSON has it.
func planData(w *console.Env, v view.Run, mermaid bool) map[string]any {
	data := map[string]any{"run": v.Key.String(), "status": v.Status, "nodes": v.Graph, "edges": arrows(v.Graph), "levels": levels(v.Graph)}
	if mermaid {
		data["mermaid"] = planMermaid(w, v.Graph)
	}
	return data
}

func printPlan(b *workspace.Workspace, v view.Run, mermaid bool) {
	if mermaid {
		noteNoPlan(b, v)
		fmt.Fprint(b.Env.Out, planMermaid(b.Env, v.Graph))
		return
	}
	show(b.Env, "plan.head", v)
	noteNoPlan(b, v)
	planTable(b.Env, v.Graph, v.Parts).Print(b.Env, b.Env.Out)
}

// noteNoPlan says why nothing is drawn.
func noteNoPlan(b *workspace.Workspace, v view.Run) {
	if len(v.Graph) == 0 {
		b.Env.Note("cli.graph.unknown", "run", console.Brief(v.Key), "command", console.Typed("doctor", console.Brief(v.Key)))
	}
}

// stepMarks are the marks of a step by its status, for readers who see no colour.
var stepMarks = map[engine.Status]string{
	"completed": "✓", "skipped": "↷", "failed": "✗", "in_progress": "●", "pending": "·",
	"validating": "●", "retrying": "↻", "aborted": "✗", "running": "●", "goal": "✓",
	"complete": "✓", "cancelled": "↷", "blocked": "✗", "executing": "●", "succeeded": "✓", "approved": "✓", "rejected": "✗",
}

// planTable returns a plan as a table, each node in a row below the name of its group. After a
// node at work comes the progress of the parts that work on it.
func planTable(w *console.Env, nodes []engine.Node, parts []engine.Part) *console.Table {
	group, straight := "", isChain(nodes)
	some := slices.ContainsFunc(nodes, func(n engine.Node) bool { return !n.Critical })
	t := &console.Table{}
	for _, n := range nodes {
		if n.Group != group {
			t.Style([]string{console.Strong}, "  "+console.OneLine(groupTitle(w, n.Group)))
			group = n.Group
		}
		mark, here := stepMarks[n.Status], ""
		if mark == "" {
			mark = "·"
		}
		if n.Gate {
			mark = "◇"
		}
		styles := []string{"", ""}
		if n.Current {
			here, styles = w.Text("cli.graph.here"), []string{console.Current, console.Current, console.Current}
		}
		cells := []string{"    " + mark + " " + console.OneLine(label(n)), string(n.Status), here}
		var remarks []string
		if len(n.After) > 0 && !straight {
			remarks = append(remarks, w.Text("page.after", "names", strings.Join(n.After, ", ")))
		}
		if n.Critical && some {
			remarks = append(remarks, w.Text("page.critical"))
		}
		if n.Current {
			remarks = append(remarks, progressOf(w, n, parts)...)
		}
		if len(remarks) > 0 {
			cells = append(cells, strings.Join(remarks, "; "))
		}
		t.Style(styles, cells...)
	}
	return t
}

// shownTask limits the text about a worker's task, in characters.
const shownTask = 40

// progressOf returns the progress of the parts that work on a node: the one of that name, and
// those that have the node in their path.
func progressOf(w *console.Env, n engine.Node, parts []engine.Part) (all []string) {
	for _, p := range parts {
		path := strings.Split(p.ID, "/")
		if p.Progress == nil || p.ID != n.ID && !slices.Contains(path, n.ID) {
			continue
		}
		words := fmt.Sprintf("%d %%", int(p.Progress.Value*100))
		if p.ID != n.ID {
			words = console.OneLine(path[len(path)-1]) + " " + words
		}
		words += console.Suffix(" ", console.Cut(console.OneLine(p.Progress.Task), shownTask))
		if p.Progress.Of > 0 {
			words += " (" + w.Text("page.tokens", "used", p.Progress.Used, "of", p.Progress.Of) + ")"
		}
		all = append(all, words)
	}
	return all
}

// isChain reports whether each node comes after the one above it: then the order says all.
func isChain(nodes []engine.Node) bool {
	for i, n := range nodes {
		if after := before(nodes, i); i > 0 && (len(after) != 1 || after[0] != nodes[i-1].ID) || i == 0 && len(n.After) > 0 {
			return false
		}
	}
	return true
}

// groupTitle returns the title of a group: the name of a phase, the number of a level.
func groupTitle(w *console.Env, group string) string {
	if _, err := strconv.Atoi(group); err == nil {
		return w.Text("cli.graph.level", "n", group)
	}
	return group
}

// label returns the name of a node for people.
func label(n engine.Node) string {
	if n.Label != "" {
		return n.Label
	}
	return n.ID
}

// showTable shows the transition table of a family.
func showTable(b *workspace.Workspace, name string, mermaid bool) error {
	i := slices.IndexFunc(b.Families, func(f loop.Family) bool { return f.Machine.Family() == name })
	m := b.Families[i].Machine
	return b.Env.Answer(map[string]any{"families": map[string]any{name: m.Edges()}}, func() {
		if mermaid {
			fmt.Fprint(b.Env.Out, tableMermaid(m.Edges()))
			return
		}
		printTable(b, m)
	})
}

func printTable(b *workspace.Workspace, m engine.Machine) {
	t := &console.Table{}
	head := []string{console.Faint, console.Faint, console.Faint, console.Faint}
	t.Style(head, b.Env.Text("cli.graph.family"), b.Env.Text("cli.graph.of"), b.Env.Text("cli.graph.from"), b.Env.Text("cli.graph.event"), b.Env.Text("cli.graph.to"))
	for _, e := range m.Edges() {
		from := string(e.From)
		if from == "" {
			from = b.Env.Text("cli.graph.begins")
		}
		t.Style([]string{console.Faint, "", "", console.Strong}, m.Family(), e.Of, from, e.Event, string(e.To))
	}
	t.Print(b.Env, b.Env.Out)
}

// planMermaid draws a plan: a box for each group, gates as diamonds, and the current node
// marked. If no node says what it comes after, each follows the one before it.
func planMermaid(w *console.Env, nodes []engine.Node) string {
	var s strings.Builder
	s.WriteString("flowchart TD\n")
	ids := map[string]string{}
	for i, n := range nodes {
		ids[n.ID] = fmt.Sprintf("n%d", i)
	}
	group := ""
	for i, n := range nodes {
		if n.Group != group {
			closeGroup(&s, group)
			fmt.Fprintf(&s, "  subgraph g%d[\"%s\"]\n", i, MermaidText(groupTitle(w, n.Group)))
			group = n.Group
		}
		open, end := "[", "]"
		if n.Gate {
			open, end = "{", "}"
		}
		fmt.Fprintf(&s, "    n%d%s\"%s\"%s\n", i, open, MermaidText(label(n)+console.Suffix(": ", string(n.Status))), end)
	}
	closeGroup(&s, group)
	for i, n := range nodes {
		for _, from := range before(nodes, i) {
			if id, known := ids[from]; known {
				fmt.Fprintf(&s, "  %s --> n%d\n", id, i)
			}
		}
		if n.Current {
			fmt.Fprintf(&s, "  style n%d stroke-width:4px\n", i)
		}
	}
	return s.String()
}

func closeGroup(s *strings.Builder, group string) {
	if group != "" {
		s.WriteString("  end\n")
	}
}

// before returns the ids of the nodes that a node comes after.
func before(nodes []engine.Node, i int) []string {
	if len(nodes[i].After) > 0 || i == 0 {
		return nodes[i].After
	}
	for _, n := range nodes {
		if len(n.After) > 0 {
			return nil
		}
	}
	return []string{nodes[i-1].ID}
}

// MermaidText makes text safe between the quotation marks of a diagram.
func MermaidText(s string) string {
	return strings.NewReplacer(`"`, "#quot;", "<", "&lt;", ">", "&gt;", "`", "'").Replace(console.OneLine(s))
}

// tableMermaid draws a transition table; the parts of a run have a box of their own.
func tableMermaid(edges []engine.Edge) string {
	var s strings.Builder
	s.WriteString("stateDiagram-v2\n")
	var order []string
	rows := map[string][]engine.Edge{}
	for _, e := range edges {
		if rows[e.Of] == nil {
			order = append(order, e.Of)
		}
		rows[e.Of] = append(rows[e.Of], e)
	}
	for _, of := range order {
		fmt.Fprintf(&s, "  state %s {\n", of)
		for _, e := range rows[of] {
			from := "[*]"
			if e.From != "" {
				from = of + "_" + string(e.From)
			}
			fmt.Fprintf(&s, "    %s --> %s_%s: %s\n", from, of, e.To, e.Event)
		}
		s.WriteString("  }\n")
	}
	return s.String()
}
