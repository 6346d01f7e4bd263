package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine"
)

// These are the sizes of a drawn plan, in sixteenths of the page's letter size. The style sheet
// has the same: .level, .level h3, .node and .pass.
const (
	nodeWide, nodeHigh = 176, 64
	passHigh           = 12
	gapWide, gapHigh   = 48, 16
	headHigh           = 32
)

// mostPasses limits the slots of long lines in the columns between their ends. A plan that
// needs more gets none.
const mostPasses = 400

// drawing is a plan on a page: columns of nodes, from left to right, and the lines between
// them. Without room for columns the style sheet shows them one below the other, and each node
// says in words what it comes after.
type drawing struct {
	Columns       []drawnColumn
	Lines         []drawnLine
	Width, Height string // of the lines, in rem
	Box           string // their viewBox
	Critical      bool   // only some nodes are on the longest path
	Titled        bool   // columns have titles
}

// drawnColumn is a group of nodes.
type drawnColumn struct {
	Title string
	Slots []drawnSlot
}

// drawnSlot is a node, or a slot through which a line passes a column.
type drawnSlot struct {
	Pass                              bool
	N                                 int // number of the node, from 1
	ID, Label, Status, Look, Link     string
	After                             string
	Current, Gate, Critical, HasAfter bool

	node, high, y int
	edge          [2]int
}

// drawnLine leads from one node to one that comes after it.
type drawnLine struct {
	Path     string
	Critical bool
}

// drawPlan draws the nodes of a plan, and returns nil for fewer than two. link returns the path
// of a page about a node, "" for none.
func drawPlan(lang string, nodes []engine.Node, link func(id string) string) *drawing {
	if len(nodes) < 2 {
		return nil
	}
	l := newPlanLayout(nodes)
	l.order()
	return l.draw(lang, link)
}

// planLayout puts the nodes of a plan into columns.
type planLayout struct {
	nodes   []engine.Node
	before  [][]int // the nodes that each node comes after
	column  []int   // of each node
	titles  []string
	columns [][]drawnSlot
	fixed   []bool // the column keeps the order of the nodes
}

func newPlanLayout(nodes []engine.Node) *planLayout {
	l := &planLayout{nodes: nodes, before: make([][]int, len(nodes)), column: make([]int, len(nodes))}
	at := map[string]int{}
	chain := true
	for i, n := range nodes {
		if _, twice := at[n.ID]; !twice {
			at[n.ID] = i
		}
		chain = chain && len(n.After) == 0
	}
	for i, n := range nodes {
		for _, id := range n.After {
			if from, known := at[id]; known && from != i && !slices.Contains(l.before[i], from) {
				l.before[i] = append(l.before[i], from)
			}
		}
		if chain && i > 0 {
			l.before[i] = []int{i - 1}
		}
	}
	l.place()
	l.fill()
	return l
}

// place assigns each node a column: by its group, in the order in which groups occur, or,
// without different groups, by the nodes that it comes after.
func (l *planLayout) place() {
	groups := map[string]int{}
	for i, n := range l.nodes {
		c, known := groups[n.Group]
		if !known {
			c = len(groups)
			groups[n.Group] = c
			l.titles = append(l.titles, n.Group)
		}
		l.column[i] = c
	}
	if len(groups) > 1 {
		return
	}
	l.titles = nil
	for range l.nodes { // a chain cannot be longer
		moved := false
		for i := range l.nodes {
			for _, from := range l.before[i] {
				if c := l.column[from] + 1; l.column[i] < c && c < len(l.nodes) {
					l.column[i], moved = c, true
				}
			}
		}
		if !moved {
			break
		}
	}
}

// fill makes the columns, with a slot in each column that a line crosses.
func (l *planLayout) fill() {
	n := slices.Max(l.column) + 1
	l.columns, l.fixed = make([][]drawnSlot, n), make([]bool, n)
	for i := range l.nodes {
		l.columns[l.column[i]] = append(l.columns[l.column[i]], drawnSlot{node: i, high: nodeHigh})
	}
	passes := 0
	for i, before := range l.before {
		for _, from := range before {
			if l.column[from] == l.column[i] {
				l.fixed[l.column[i]] = true
			}
			passes += max(0, l.column[i]-l.column[from]-1)
		}
	}
	if passes > mostPasses {
		return
	}
	for i, before := range l.before {
		for _, from := range before {
			for c := l.column[from] + 1; c < l.column[i]; c++ {
				l.columns[c] = append(l.columns[c], drawnSlot{Pass: true, node: -1, high: passHigh, edge: [2]int{from, i}})
			}
		}
	}
}

// order sorts the slots of each column next to those that they are joined to, so that few lines
// cross.
func (l *planLayout) order() {
	for range 4 {
		for c := 1; c < len(l.columns); c++ {
			l.sortColumn(c, c-1)
		}
		for c := len(l.columns) - 2; c >= 0; c-- {
			l.sortColumn(c, c+1)
		}
	}
	l.spread()
}

// sortColumn sorts a column by the mean place of the slots in another column that each slot is
// joined to.
func (l *planLayout) sortColumn(c, other int) {
	if l.fixed[c] {
		return
	}
	place := map[[2]int]float64{} // of nodes as {node, -1}, and of passes by their edges
	for i, s := range l.columns[other] {
		at := (float64(i) + 0.5) / float64(len(l.columns[other]))
		if s.Pass {
			place[s.edge] = at
		} else {
			place[[2]int{s.node, -1}] = at
		}
	}
	near := func(edge [2]int) (at float64, ok bool) {
		if at, ok = place[edge]; ok {
			return at, true
		}
		for _, node := range edge {
			if at, ok = place[[2]int{node, -1}]; ok && l.column[node] == other {
				return at, true
			}
		}
		return 0, false
	}
	type key struct {
		slot drawnSlot
		at   float64
	}
	keys := make([]key, len(l.columns[c]))
	for i, s := range l.columns[c] {
		keys[i] = key{s, (float64(i) + 0.5) / float64(len(keys))}
		var sum, n float64
		for _, edge := range l.edgesOf(s) {
			if at, ok := near(edge); ok {
				sum, n = sum+at, n+1
			}
		}
		if n > 0 {
			keys[i].at = sum / n
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(a.at, b.at) })
	for i, k := range keys {
		l.columns[c][i] = k.slot
	}
}

// edgesOf returns the edges that begin or end at a slot, or pass through it.
func (l *planLayout) edgesOf(s drawnSlot) (edges [][2]int) {
	if s.Pass {
		return [][2]int{s.edge}
	}
	for _, from := range l.before[s.node] {
		edges = append(edges, [2]int{from, s.node})
	}
	for i, before := range l.before {
		if slices.Contains(before, s.node) {
			edges = append(edges, [2]int{s.node, i})
		}
	}
	return edges
}

// spread sets how far down each slot is: the columns are centred.
func (l *planLayout) spread() {
	tall := l.tallest()
	for _, column := range l.columns {
		y := l.head() + (tall-high(column))/2
		for i := range column {
			column[i].y = y
			y += column[i].high + gapHigh
		}
	}
}

func (l *planLayout) head() int {
	if l.titles == nil {
		return 0
	}
	return headHigh
}

func (l *planLayout) tallest() (tall int) {
	for _, column := range l.columns {
		tall = max(tall, high(column))
	}
	return tall
}

func high(column []drawnSlot) (h int) {
	for _, s := range column {
		h += s.high + gapHigh
	}
	return max(0, h-gapHigh)
}

// draw makes the drawing.
func (l *planLayout) draw(lang string, link func(id string) string) *drawing {
	d := &drawing{Titled: l.titles != nil}
	wide, tall := len(l.columns)*(nodeWide+gapWide)-gapWide, l.head()+l.tallest()
	d.Width, d.Height, d.Box = rem(wide), rem(tall), fmt.Sprintf("0 0 %d %d", wide, tall)
	critical := 0
	for _, n := range l.nodes {
		if n.Critical {
			critical++
		}
	}
	d.Critical = critical > 0 && critical < len(l.nodes)
	places := map[[2]int]point{}
	for c, column := range l.columns {
		out := drawnColumn{}
		if l.titles != nil {
			out.Title = groupTitle(lang, l.titles[c])
		}
		for _, s := range column {
			at := point{c * (nodeWide + gapWide), s.y}
			if s.Pass {
				places[[2]int{c, s.edge[0]*len(l.nodes) + s.edge[1]}] = at
			} else {
				places[[2]int{-1, s.node}] = at
				l.describe(lang, &s, d.Critical, link)
			}
			out.Slots = append(out.Slots, s)
		}
		d.Columns = append(d.Columns, out)
	}
	for i, before := range l.before {
		for _, from := range before {
			d.Lines = append(d.Lines, drawnLine{l.line(places, from, i), d.Critical && l.nodes[from].Critical && l.nodes[i].Critical})
		}
	}
	// Lines of the longest path are drawn last, above the others.
	slices.SortStableFunc(d.Lines, func(a, b drawnLine) int {
		switch {
		case a.Critical == b.Critical:
			return 0
		case b.Critical:
			return -1
		}
		return 1
	})
	return d
}

// describe fills in what a node shows.
func (l *planLayout) describe(lang string, s *drawnSlot, critical bool, link func(id string) string) {
	n := l.nodes[s.node]
	s.N, s.ID = s.node+1, n.ID
	s.Label, s.Status = console.OneLine(cmp.Or(n.Label, n.ID)), console.OneLine(string(n.Status))
	s.Look, s.Link = lookOf(n.Status, n.Current, n.Gate), link(n.ID)
	s.Current, s.Gate, s.Critical = n.Current, n.Gate, critical && n.Critical
	var names []string
	for _, from := range l.before[s.node] {
		names = append(names, console.OneLine(cmp.Or(l.nodes[from].Label, l.nodes[from].ID)))
	}
	if len(names) > 0 {
		s.After = phrase(lang, "page.after", "names", strings.Join(names, ", "))
	}
}

type point struct{ x, y int }

// line returns the path from one node to another: through the slots in the columns between them
// or, within a column, down.
func (l *planLayout) line(places map[[2]int]point, from, to int) string {
	a, b := places[[2]int{-1, from}], places[[2]int{-1, to}]
	if l.column[from] == l.column[to] {
		if b.y == a.y+nodeHigh+gapHigh {
			return fmt.Sprintf("M%d %dV%d", a.x+nodeWide/2, a.y+nodeHigh, b.y-tipLong)
		}
		const out = gapWide / 3
		ay, by := a.y+nodeHigh/2, b.y+nodeHigh/2
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", a.x+nodeWide, ay, a.x+nodeWide+out, ay, b.x+nodeWide+out, by, b.x+nodeWide, by)
	}
	x, y := a.x+nodeWide, a.y+nodeHigh/2
	var path strings.Builder
	fmt.Fprintf(&path, "M%d %d", x, y)
	curve := func(toX, toY int) {
		half := (toX - x) / 2
		if half <= 0 {
			half = gapWide
		}
		fmt.Fprintf(&path, "C%d %d %d %d %d %d", x+half, y, toX-half, toY, toX, toY)
		x, y = toX, toY
	}
	for c := l.column[from] + 1; c < l.column[to]; c++ {
		if at, ok := places[[2]int{c, from*len(l.nodes) + to}]; ok {
			curve(at.x, at.y+passHigh/2)
			x += nodeWide
			fmt.Fprintf(&path, "H%d", x)
		}
	}
	curve(b.x-tipLong, b.y+nodeHigh/2)
	return path.String()
}

// tipLong is the length of the tip of a line.
const tipLong = 6

func rem(sixteenths int) string {
	return strconv.FormatFloat(float64(sixteenths)/16, 'f', -1, 64) + "rem"
}

// groupTitle returns the title of a group: "level" with its number, or else its name.
func groupTitle(lang, group string) string {
	if n, err := strconv.Atoi(group); err == nil {
		return phrase(lang, "page.level", "n", n)
	}
	return console.OneLine(group)
}

// looks lists the statuses of each look.
var looks = map[string][]string{
	"done":  {"complete", "completed", "success", "succeeded", "done", "approved", "passed", "executed", "reached", "goal", "resolved", "simulated", "merged", "drafted"},
	"off":   {"skipped", "cancelled", "canceled", "superseded", "dismissed", "withdrawn", "demoted", "not used"},
	"alarm": {"failed", "blocked", "escalated", "aborted", "error", "rejected", "expired", "unclear", "lost", "timed_out", "unreadable"},
	"runs":  {"running", "in_progress", "validating", "retrying", "executing", "reporting", "deciding"},
	"waits": {"waiting_for_human", "awaiting_feedback", "awaiting_human", "approval_pending", "paused"},
}

// lookOf returns the look of a part's status: done, off, alarm, runs, waits, or idle.
func lookOf(s engine.Status, current, gate bool) string {
	for look, words := range looks {
		if slices.Contains(words, string(s)) {
			return look
		}
	}
	switch {
	case current && gate:
		return "waits"
	case current:
		return "runs"
	}
	return "idle"
}
