package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/statedir"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func stateDirOf(t *testing.T) *statedir.Dir {
	t.Helper()
	from := places(t)
	dir, err := statedir.Create(from.stateHome, from.workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func TestTrustIsKeptOutsideTheWorkspaceForItsOwnerAlone(t *testing.T) {
	dir := stateDirOf(t)
	file := trustFile{SchemaVersion: 1, Workspace: "/somewhere/ws"}
	x := engine.Sum([]byte("x"))
	file.agree(noon, untrustedLine{Name: "faber.resume", Digest: seal(x, map[string]string{"run": "folder"}), of: x, Text: "run <x>", Files: map[string]string{"run": "folder"}})
	if err := file.write(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir.Location(), trustName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	back, err := readTrust(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, back); diff != "" {
		t.Error(diff)
	}
}

func TestAgreeingTwiceIsOneAgreement(t *testing.T) {
	var file trustFile
	u := untrustedLine{Name: "a", Digest: engine.Sum([]byte("a")), of: engine.Sum([]byte("a"))}
	file.agree(noon, u, u)
	file.agree(noon, u)
	if len(file.Trusted) != 1 {
		t.Errorf("%d entries", len(file.Trusted))
	}
	u.Digest = engine.Sum([]byte("with another script"))
	file.agree(noon, u)
	if len(file.Trusted) != 1 || file.Trusted[0].Digest != u.Digest {
		t.Errorf("what the script was counts still: %+v", file.Trusted)
	}
	file.revoke(noon, map[engine.Digest]bool{u.Digest: true})
	if len(file.Trusted) != 0 {
		t.Errorf("%d entries after revoking", len(file.Trusted))
	}
}

func TestATrustFileThatCannotBeTrustedIsRefused(t *testing.T) {
	tests := map[string]struct {
		body string
		mode os.FileMode
		says string
	}{
		"others may write it": {`{"schema_version":1,"workspace":"/w","trusted":[]}`, 0o622, "others may write it"},
		"half written":        {`{"schema_version":1,`, 0o600, "cannot read the trust file"},
		"empty":               {``, 0o600, "cannot read the trust file"},
		"a name twice":        {`{"schema_version":1,"trusted":[],"TRUSTED":[]}`, 0o600, "cannot read the trust file"},
		"of a later version":  {`{"schema_version":2,"workspace":"/w","trusted":[{"name":"a","digest":"sha256:0"}]}`, 0o600, "version 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := stateDirOf(t)
			path := filepath.Join(dir.Location(), trustName)
			if err := os.WriteFile(path, []byte(test.body), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, test.mode); err != nil {
				t.Fatal(err)
			}
			file, err := readTrust(dir)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("says %v, want %q", err, test.says)
			}
			if len(file.digests()) > 0 {
				t.Error("agrees to something")
			}
		})
	}
}

func TestAThingIsNamedByItsNameOrItsDigest(t *testing.T) {
	d := engine.Sum([]byte("x"))
	for arg, want := range map[string]bool{
		"faber.resume": true, "faber": false, "": false,
		string(d): true, d.Hex(): true, d.Hex()[:8]: true, "sha256:" + d.Hex()[:12]: true,
		d.Hex()[:7]: false, "sha256:": false, strings.ToUpper(d.Hex()[:8]): strings.ToUpper(d.Hex()[:8]) == d.Hex()[:8],
	} {
		if got := named(arg, "faber.resume", d); got != want {
			t.Errorf("%q names it: %v, want %v", arg, got, want)
		}
	}
}

func TestNamingWhatDoesNotWaitIsAnError(t *testing.T) {
	a := untrustedLine{Name: "a", Digest: engine.Sum([]byte("1"))}
	twin := untrustedLine{Name: "a", Digest: engine.Sum([]byte("2"))}
	agreed := trustFile{Trusted: []trusted{{Name: "old", Digest: engine.Sum([]byte("3"))}}}
	chooseNamed := func(args []string, waiting []untrustedLine, agreed trustFile) ([]untrustedLine, error) {
		chosen, _, err := chooseNamed(args, waiting, agreed)
		return chosen, err
	}
	if chosen, err := chooseNamed([]string{"a"}, []untrustedLine{a}, agreed); err != nil || len(chosen) != 1 {
		t.Errorf("one that waits: %v, %v", chosen, err)
	}
	if chosen, err := chooseNamed([]string{"old"}, []untrustedLine{a}, agreed); err != nil || len(chosen) != 0 {
		t.Errorf("one that is agreed to: %v, %v", chosen, err)
	}
	if _, err := chooseNamed([]string{"b"}, []untrustedLine{a}, agreed); err == nil {
		t.Error("one that does not exist was taken")
	}
	_, err := chooseNamed([]string{"a"}, []untrustedLine{a, twin}, agreed)
	if p, ok := err.(*problem); !ok || len(p.fits) != 2 {
		t.Errorf("two of one name: %v", err)
	}
	if chosen, err := chooseNamed([]string{twin.Digest.Hex()}, []untrustedLine{a, twin}, agreed); err != nil || len(chosen) != 1 || chosen[0].Digest != twin.Digest {
		t.Errorf("by digest: %v, %v", chosen, err)
	}
}
