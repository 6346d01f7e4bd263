package main

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// part is how many schedules the tests run: of those of "make torture", the part that
// the seed chooses.
const part = 12_000

func TestNothingIsLostDoubledOrDamaged(t *testing.T) {
	l, err := newLab(stories(), variants, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.run(phases, budget{schedules: part}, runtime.GOMAXPROCS(0), true, func(line string) { t.Log(line) })
	for _, f := range l.failures {
		t.Error(f)
	}
	if l.told.Load() < part {
		t.Errorf("only %d schedules were told: does the laboratory still work?", l.told.Load())
	}
}

// deskLab returns a laboratory with the toy family's scenario in the plain variant.
func deskLab(t *testing.T) *lab {
	t.Helper()
	l, err := newLab([]*story{deskStory(), groupStory()}, variants[:2], nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAScheduleIsToldTheSameTwice(t *testing.T) {
	for _, text := range []string{
		"desk/plain/2 cut@90#7 kill@40 EIO@20x3",
		"desk/noexchange/3 ENOSPC@60 halfcut@88#3",
		"desk/plain/2 stale@95 words@120 kill@133 onward",
		"group/plain/1 cut@140#9 EMFILE@33",
	} {
		var traces [2]bytes.Buffer
		for i := range traces {
			l := deskLab(t)
			s, err := l.parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if s.String() != text {
				t.Errorf("%q is written as %q", text, s)
			}
			if problem := l.tell(s, &traces[i]); problem != "" {
				t.Errorf("%s: %s", text, problem)
			}
		}
		if traces[0].String() != traces[1].String() {
			t.Errorf("%s was told in two ways:\n%s\nand\n%s", text, &traces[0], &traces[1])
		}
		if calls := strings.Count(traces[0].String(), "\n"); calls < 100 {
			t.Errorf("%s: only %d lines", text, calls)
		}
	}
}

func TestAScheduleThatCannotBeReadIsRefused(t *testing.T) {
	l := deskLab(t)
	for _, text := range []string{"", "desk", "desk/plain/9", "nowhere/plain/0", "desk/plain/0 kill", "desk/plain/0 shrug@1", "desk/plain/0 kill@x", "desk/plain/0 cut@1#x", "desk/plain/0 EIO@1xx"} {
		if _, err := l.parse(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestTextsAreComparedWithoutTheirTimes(t *testing.T) {
	const one = `{"at":"2026-03-01T12:00:00.000000Z","sum":"sha256:` + "0000000000000000000000000000000000000000000000000000000000000000" + `","n":1}`
	for _, test := range []struct {
		name, got string
		want      bool
	}{
		{"the same", one, true},
		{"another time", strings.Replace(one, "12:00", "13:37", 1), true},
		{"another digest", strings.Replace(one, "0000000\"", "abcdef0\"", 1), true},
		{"another number", strings.Replace(one, `"n":1`, `"n":2`, 1), false},
		{"no time", strings.Replace(one, "2026-03-01T12:00:00.000000Z", "", 1), false},
		{"more", one + "\n", false},
		{"another name", strings.Replace(one, `"at"`, `"xt"`, 1), false},
	} {
		if got := sameText(one, test.got); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestTimesOfOneRevisionMustAgree(t *testing.T) {
	times := map[string]string{}
	for _, doc := range []struct{ name, body string }{
		{".desk/a/events/001-x.json", `{"revision":1,"event":"x","at":"T1"}`},
		{".desk/a/log.jsonl", `{"revision":1,"event":"x","at":"T1"}` + "\n" + `{"revision":2,"event":"y","at":"T2"}`},
		{".desk/b/log.jsonl", `{"revision":1,"event":"x","at":"T3"}`},
	} {
		if problem := agree(times, doc.name, doc.body); problem != "" {
			t.Error(problem)
		}
	}
	if agree(times, ".desk/a/state.json", `{"status":"y","revision":2,"event":"y","at":"T4"}`) == "" {
		t.Error("two times of one revision agree")
	}
}
