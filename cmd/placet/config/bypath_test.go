package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"placet/engine/statedir"
)

// agreeByPath agrees to everything that waits, as placet trust does.
func agreeByPath(t *testing.T, from Sources, at time.Time) {
	t.Helper()
	dir, err := statedir.Create(from.StateHome, from.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	file, err := ReadTrust(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []UntrustedLine
	for _, s := range mustLoad(t, from).Waiting {
		lines = append(lines, waitingSetting(s))
	}
	if err := from.AgreeByPath(file, at, lines); err != nil {
		t.Fatal(err)
	}
	file.Workspace = from.Workspace
	file.Agree(at, lines...)
	if err := file.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// replaceWorkspace puts another folder at the workspace's path, and returns where the first
// one is.
func replaceWorkspace(t *testing.T, from Sources) (first string) {
	t.Helper()
	first = from.Workspace + ".first"
	if err := os.Rename(from.Workspace, first); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(from.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return first
}

// Stricter agreements for another folder at the path hold, whatever the present folder
// says, and they loosen nothing.
func TestWhatIsTighterHoldsByThePath(t *testing.T) {
	for name, c := range map[string]struct {
		agreed, written string
		want            string // of all settings
		held            []string
	}{
		"gates":         {agreed: gatesBy("kim"), want: "kim 23h pass 48h", held: []string{"gates"}},
		"other gates":   {agreed: gatesBy("kim"), written: gatesBy("lee"), want: "nobody: [gates] waits for trust 23h pass 48h", held: []string{"gates"}},
		"no gates":      {agreed: "[gates]\n", written: gatesBy("lee"), want: "lee 23h pass 48h"},
		"wait, shorter": {agreed: "[hook]\nwait = \"1h\"\n", written: "[hook]\nwait = \"2h\"\n", want: " 1h pass 48h", held: []string{"hook.wait"}},
		"wait, said":    {written: "[hook]\nwait = \"1h\"\n", want: " 23h pass 48h"},
		"permission":    {agreed: "[hook]\npermission = \"ask\"\n", want: " 23h ask 48h", held: []string{"hook.permission"}},
		"an order":      {agreed: "[optimizer]\nhitl_timeout = \"90h\"\n", want: " 23h pass 90h", held: []string{"optimizer.hitl_timeout"}},
		"a looser one":  {agreed: "[optimizer]\nhitl_timeout = \"1h\"\n", written: "[optimizer]\nhitl_timeout = \"1h\"\n", want: " 23h pass 48h"},
	} {
		from := places(t)
		put(t, from.Workspace, "placet.toml", c.agreed)
		agreeByPath(t, from, noon)
		for range 2 { // the second time from the folder as an earlier version would have written it
			replaceWorkspace(t, from)
			put(t, from.Workspace, "placet.toml", c.written)
			s := mustLoad(t, from)
			approver := ""
			for _, g := range s.Gates {
				approver = g.Approvers[0]
			}
			if got := approver + " " + s.Hook.Wait + " " + s.Hook.Permission + " " + s.Optimizer.HITLTimeout; got != c.want || !slices.Equal(s.holding, c.held) {
				t.Errorf("%s: %s holds, by the path %q; want %s, %q", name, got, s.holding, c.want, c.held)
			}
			if (len(c.held) > 0) != (len(s.Warnings) > 0) || len(c.held) > 0 && len(s.Waiting) == 0 {
				t.Errorf("%s: warnings %v, waiting %v", name, s.Warnings, s.Waiting)
			}
			if err := os.RemoveAll(from.StateHome + "/placet/paths"); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(from.Workspace + ".first"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// If several folders of an earlier version have agreements for one path, the newest counts;
// decisions of the same second hold together.
func TestTheNewestOfEarlierFoldersCounts(t *testing.T) {
	gates := func(who string, at time.Time) TrustFile {
		file := TrustFile{}
		d := settingDigest("gates", who)
		file.Agree(at, UntrustedLine{Name: "gates", Digest: d, Of: d, Text: who})
		return file
	}
	revoked := gates("kim", noon)
	revoked.Revoke(noon.Add(time.Hour), revoked.Digests())
	for name, c := range map[string]struct {
		files []TrustFile
		want  []string
	}{
		"newer":         {[]TrustFile{gates("kim", noon), gates("lee", noon.Add(time.Second))}, []string{"lee"}},
		"older":         {[]TrustFile{gates("kim", noon), gates("lee", noon.Add(-time.Second))}, []string{"kim"}},
		"at once":       {[]TrustFile{gates("kim", noon), gates("lee", noon)}, []string{"kim", "lee"}},
		"revoked":       {[]TrustFile{gates("lee", noon), revoked}, nil},
		"revoked, then": {[]TrustFile{revoked, gates("lee", noon.Add(2*time.Hour))}, []string{"lee"}},
		"of others":     {[]TrustFile{gates("kim", noon), {}}, []string{"kim"}},
	} {
		for range 2 {
			slices.Reverse(c.files)
			var p pathTrust
			newest := map[string]time.Time{}
			for _, file := range c.files {
				p.add(file, newest)
			}
			var got []string
			for _, one := range p.Trusted {
				got = append(got, one.Text)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
}

// A digest takes back one of several agreements; those to other settings stay.
func TestRevokingByThePath(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", gatesBy("kim")+"[hook]\nwait = \"1h\"\n")
	agreeByPath(t, from, noon)
	first := replaceWorkspace(t, from)
	kim := settingDigest("gates", `{"*":{"approvers":["kim"]}}`)
	names, damage, err := from.RevokeByPath(statedir.References{}, TrustFile{}, noon.Add(time.Minute), []string{kim.Hex()})
	if !slices.Equal(names, []string{"gates"}) || damage != nil || err != nil {
		t.Errorf("%v, %v, %v", names, damage, err)
	}
	if s := mustLoad(t, from); len(s.Gates) > 0 || s.Hook.Wait != "1h" {
		t.Errorf("%+v, %s", s.Gates, s.Hook.Wait)
	}
	if names, damage, err := from.RevokeByPath(statedir.References{}, TrustFile{}, noon.Add(time.Minute), []string{"faber.resume"}); names != nil || damage != nil || err != nil {
		t.Errorf("%v, %v, %v", names, damage, err)
	}
	if err := os.RemoveAll(from.Workspace); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(first, from.Workspace); err != nil {
		t.Fatal(err)
	}
	put(t, from.Workspace, "placet.toml", "")
	if s := mustLoad(t, from); len(s.Gates) > 0 || s.Hook.Wait != "1h" || len(s.Agreed.Trusted) != 1 {
		t.Errorf("back: %+v, %s, %+v", slices.Collect(maps.Keys(s.Gates)), s.Hook.Wait, s.Agreed.Trusted)
	}
}

func gatesBy(who string) string { return "[gates]\n\"*\" = { approvers = [\"" + who + "\"] }\n" }

// Stricter agreements for a folder also hold below it, besides the agreements there, except
// for the settings of the hook, which reads the folders above by itself. The folder is a
// workspace as long as they hold.
func TestWhatWasAgreedToHoldsBelow(t *testing.T) {
	for name, c := range map[string]struct {
		agreed, own string
		want        string // of all settings of the folder below
		warns       bool
	}{
		"gates":           {agreed: gatesBy("kim"), want: "kim 48h 23h", warns: true},
		"gates, the same": {agreed: gatesBy("kim"), own: gatesBy("kim"), want: "kim 48h 23h", warns: true},
		"gates, others":   {agreed: gatesBy("kim"), own: gatesBy("lee"), want: "nobody: [gates] waits for trust 48h 23h", warns: true},
		"no gates":        {agreed: "[gates]\n", own: gatesBy("lee"), want: "lee 48h 23h"},
		"an order":        {agreed: "[optimizer]\nhitl_timeout = \"90h\"\n", own: "[optimizer]\nhitl_timeout = \"80h\"\n", want: " 90h 23h", warns: true},
		"a looser one":    {agreed: "[optimizer]\nhitl_timeout = \"60h\"\n", own: "[optimizer]\nhitl_timeout = \"80h\"\n", want: " 80h 23h", warns: true},
		"of the hook":     {agreed: "[hook]\nwait = \"1h\"\n[[hook.rule]]\ndo = \"deny\"\n", want: " 48h 23h"},
	} {
		above := places(t)
		put(t, above.Workspace, "placet.toml", c.agreed)
		agreeByPath(t, above, noon)
		below := above
		below.Workspace = filepath.Join(above.Workspace, "sub/deep")
		put(t, below.Workspace, "placet.toml", c.own)
		agreeByPath(t, below, noon)
		if err := os.Remove(filepath.Join(above.Workspace, "placet.toml")); err != nil {
			t.Fatal(err)
		}
		below.Above = atAndAbove(filepath.Dir(below.Workspace))
		s := mustLoad(t, below)
		approver := ""
		for _, g := range s.Gates {
			approver = g.Approvers[0]
		}
		if got := approver + " " + s.Optimizer.HITLTimeout + " " + s.Hook.Wait; got != c.want || len(s.Warnings) > 0 != c.warns || len(s.Hook.Rule) > 0 || len(s.Waiting) > 0 {
			t.Errorf("%s: %q holds, want %q; warnings %v, waiting %v", name, got, c.want, s.Warnings, s.Waiting)
		}
		if is := IsWorkspace(above.StateHome, above.Workspace); is != (name != "no gates") {
			t.Errorf("%s: a workspace without marks: %t", name, is)
		}
		if _, _, err := above.RevokeByPath(statedir.References{}, TrustFile{}, noon, nil); err != nil || IsWorkspace(above.StateHome, above.Workspace) {
			t.Errorf("%s: what was taken back makes a workspace: %v", name, err)
		}
	}
}
