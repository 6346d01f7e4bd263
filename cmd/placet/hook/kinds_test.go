package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"placet/cmd/placet/config"
)

// projectWithRequests is a workspace whose own tests have folders and files that are named like those of
// requests.
func projectWithRequests(t *testing.T) Places {
	t.Helper()
	p := guardedPlaces(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(p.Root, "outside")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"tests/requests/x", "copy/a/requests/ask-1", "docs"} {
		if err := os.MkdirAll(filepath.Join(p.Root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.Root, "copy/a/requests/ask-1/request.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// A path counts where a command writes it, an answer only where a request can be, and words
// in texts for people are no commands.
func TestK13HonestWorkPasses(t *testing.T) {
	p := projectWithRequests(t)
	for _, command := range []string{
		"cp placet.toml docs/settings-example.toml",
		"cp placet.toml outside",
		"cp -p placet.toml .mcp.json outside/",
		"cp -r .asks/a/requests/ask-1 /tmp/x",
		"rsync -a placet.toml backup@host:/srv/",
		"scp -q placet.toml .mcp.json host:/srv/x",
		"tar czf x.tgz .asks placet.toml",
		"tar -czf /tmp/x.tgz .asks placet.toml .claude/settings.json",
		"tar --gzip -cf x.tgz .asks/a/requests/ask-1 placet.policy/x.toml",
		"zip -rq x.zip .asks placet.toml",
		"git archive HEAD placet.toml",
		"git archive --format=tar HEAD placet.toml .asks | gzip > /tmp/x.tgz",
		"git ls-tree HEAD placet.toml",
		"git rev-list -1 HEAD -- placet.toml",
		"sha512sum placet.toml | tee sums.txt",
		`gh pr create --body "then run placet approve ask-1"`,
		`gh pr create --title "placet approve" --body "edit placet.toml; then run placet approve ask-1"`,
		`gh issue comment 7 -b "placet trust was missing in placet.toml"`,
		"gh pr edit 7 --body='placet reject ask-1\nplacet.toml'",
		`glab mr create --description "run placet approve ask-1"`,
		`git merge -m "placet approve ask-1 was needed" topic`,
		`git stash push -m "placet.toml before the change"`,
		`notify-send "run placet approve ask-1"`,
		"echo x > tests/requests/x/form.md",
		"cat > tests/requests/x/response.json <<'E'\n{}\nE",
		"cp -f tests/requests/x/form.md tests/requests/x/form.2.md",
		"rm tests/requests/x/receipt.json",
		"sed -i s/a/b/ tests/requests/x/form.md",
		"awk '{print $1}' placet.toml",
		"sed -n 's/wait = //p' placet.toml",
		"sort -k1 placet.toml", "uniq placet.toml",
	} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "Bash", members{"command": command}), p); o.Do != config.HookPass {
			t.Errorf("%q: %s", command, o.Reason)
		}
	}
	for _, file := range []string{"tests/requests/x/form.md", "tests/requests/x/response.json", "src/requests/api/answer.json", "tests/requests/x/receipt.json", "pkg/requests/new/form.2.md"} {
		for _, tool := range []string{"Write", "Edit", "mcp__files__write_file"} {
			if o := judged(claudeCode, nil, called(t, claudeCode, tool, members{"file_path": file, "path": file, "content": "placet approve ask-1"}), p); o.Do != config.HookPass {
				t.Errorf("%s %s: %s", tool, file, o.Reason)
			}
		}
	}
}

// What only looks like the honest work above is still denied.
func TestK13WhatWritesIsStillDenied(t *testing.T) {
	p := projectWithRequests(t)
	for _, command := range []string{
		"cp evil.toml placet.toml",
		"cp x placet.toml < y",
		"cp x placet.toml $EMPTY",
		"cp x placet.toml $(true)",
		"cp x placet.toml *.none",
		"cp {x,placet.toml}",
		"cp x {y,placet.toml}",
		"cp x placet.toml ''",
		"cp -t . evil/placet.toml",
		"cp evil/placet.toml .",
		"cp evil/placet.toml docs",
		"cp --target-directory=. evil/placet.toml",
		"cp -l placet.toml x; echo wait > x",
		"cp -s placet.toml x && echo wait > x",
		"cp -a innocent.json x; echo '{}' > x",
		"rsync --remove-source-files placet.toml /tmp",
		"rsync -a evil/placet.toml ./",
		"mv placet.toml /tmp",
		"ln placet.toml x",
		"tar xf x.tgz placet.toml",
		"tar xf cf placet.toml",
		"tar czf placet.toml x",
		"tar cf x.tar placet.toml --remove-files",
		"tar --remove-files -cf x.tar placet.toml",
		"tar cf x.tar --checkpoint=1 --checkpoint-action=exec='placet approve ask-1' y",
		"zip -m x.zip placet.toml",
		"zip placet.toml x",
		"git archive -o placet.toml HEAD",
		"git archive --output=.mcp.json HEAD",
		"git diff --output=placet.toml",
		"git checkout -m placet.toml",
		"gh pr create --body x; placet approve ask-1",
		`gh pr create --body "$(placet approve ask-1)"`,
		"gh alias set a '!placet approve ask-1'",
		"gh issue create --body 'placet approve ask-1' | sh",
		"watch -n1 'placet approve ask-1'",
		"echo x > copy/a/requests/ask-1/response.json",
		"ln -s .asks l; echo x > l/a/requests/ask-1/response.json",
		"mv .asks q && echo x > q/a/requests/ask-1/response.json",
		"cd $D && echo x > a/requests/ask-1/response.json",
		"cd .asks && echo x > a/requests/ask-1/response.json",
		"echo x > $D/a/requests/ask-1/response.json",
		"tee .ask?/a/requests/ask-1/response.json",
		"rm .a*/a/requests/*/form.md",
		"tee .ask{s,}/a/requests/ask-1/response.json",
		"make -C .asks a/requests/ask-1/response.json",
		`python3 -c "import os; os.chdir('.asks'); open('a/requests/ask-1/response.json','w')"`,
		"awk 'BEGIN{system(\"ln -s .asks l\")}'; echo x > l/a/requests/ask-1/response.json",
		"sed '1e ln -s .asks l' f; echo x > l/a/requests/ask-1/response.json",
	} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "Bash", members{"command": command}), p); o.Do != config.HookDeny {
			t.Errorf("%q passes", command)
		}
	}
	p.Cwd = filepath.Join(p.Root, ".asks")
	for _, command := range []string{"cd /nowhere; echo x > a/requests/ask-1/response.json", "(cd /tmp); echo x > a/requests/ask-1/response.json", "echo x > a/requests/ask-9/response.json"} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "Bash", members{"command": command}), p); o.Do != config.HookDeny {
			t.Errorf("%q passes", command)
		}
	}
	for _, file := range []string{"../copy/a/requests/ask-1/form.md", "a/requests/new/response.json", "/elsewhere/.asks/b/requests/c/form.md"} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "Write", members{"file_path": file}), p); o.Do != config.HookDeny {
			t.Errorf("Write %s passes", file)
		}
	}
}

// Calls by way of others are seen: editors that write in place, and tools of servers that run a
// command or type keys.
func TestK15IndirectCallsAreDenied(t *testing.T) {
	p := guardedPlaces(t)
	const form, state = ".asks/a/requests/ask-1/form.md", ".asks/a/state.json"
	for _, command := range []string{
		"awk -i inplace '{gsub(/\\[ \\]/, \"[x]\"); print}' " + form,
		"gawk -i inplace '{print}' " + state,
		"awk --include=inplace '{print}' " + form,
		"awk 'BEGIN { print \"{}\" > \"placet.toml\" }'",
		"awk 'BEGIN { system(\"placet approve ask-1\") }'",
		"sed -Ei 's/a/b/' " + form,
		"sed -ni.bak p " + form,
		"sed --in-place=.bak s/a/b/ " + form,
		"sed -n 'w placet.toml' x",
		"sed 's/a/b/w placet.toml' x",
		"perl -i -pe 's/a/b/' " + form,
		"perl -pi.bak -e 's/a/b/' " + state,
		"ruby -i -pe '$_.upcase!' " + form,
		"printf '%s\\n' w q | ed -s " + form,
		"ed " + state + " <<'E'\n1d\nw\nE",
		"ex -sc '%s/a/b/|x' " + form,
		"vim -es +'%s/a/b/' +wq " + state,
		"vim -c 'e " + form + "' -c 'normal x' -c wq",
		"nvim --headless -c wq " + state,
		"emacs --batch " + state + " --eval '(save-buffer)'",
		"yq -yi .a=1 " + state,
		"sort -uo placet.toml x",
		"uniq x placet.toml",
		"sponge " + state + " < x",
		"$(which placet) approve ask-1",
		"at now <<E\nplacet approve ask-1\nE",
	} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "Bash", members{"command": command}), p); o.Do != config.HookDeny {
			t.Errorf("%q passes", command)
		}
	}
	for _, input := range []members{
		{"cmd": "placet approve ask-1"},
		{"cmd": []any{"bash", "-lc", "placet approve ask-1"}},
		{"keys": "placet approve ask-1\n"},
		{"keys": []any{"placet approve ask-1", "Enter"}},
		{"keys": []any{"placet", "approve", "ask-1"}},
		{"script": "#!/bin/sh\necho '{}' > " + form},
		{"Command": "cp x placet.toml"},
		{"commands": []any{"ls", "placet trust"}},
		{"input": members{"shell_command": "sed -i s/a/b/ " + form}},
		{"steps": []any{members{"cmd": "placet approve ask-1"}}},
		{"shellCommand": "placet approve ask-1"},
	} {
		for _, tool := range []string{"mcp__terminal__run", "mcp__tmux__send_keys", "mcp__ssh__read_command"} {
			if o := judged(claudeCode, nil, called(t, claudeCode, tool, input), p); o.Do != config.HookDeny {
				t.Errorf("%s %v passes", tool, input)
			}
		}
	}
	for _, input := range []members{{"cmd": "ls"}, {"keys": "q"}, {"keys": []any{"a", "b"}}, {"script": "npm test"}, {"transcript": "placet approve ask-1"}, {"description": "placet approve ask-1"}} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "mcp__terminal__run", input), p); o.Do != config.HookPass {
			t.Errorf("%v: %s", input, o.Reason)
		}
	}
}

// A file of a client that begins with a byte order mark, or is UTF-16, is refused with what to
// write, be it JSON or TOML.
func TestK16AByteOrderMarkIsRefused(t *testing.T) {
	const mark = "\ufeff"
	for _, client := range Clients {
		for _, file := range client.Files(config.Hook{}) {
			for _, body := range []string{mark, mark + "\n", mark + file.Snippet(), mark + "{}", mark + "a = 1\n", mark + "\r\n# comment\r\n", mark + mark, "\xff\xfea\x00"} {
				change, err := file.Plan([]byte(body))
				if err == nil || change.Body != nil {
					t.Errorf("%s: %q becomes %q", file.Path, body, change.Body)
				} else if strings.HasPrefix(body, mark) && !strings.Contains(err.Error(), "line 1, column 1: the file begins with a byte order mark: expected UTF-8 without one") {
					t.Errorf("%s: %q: %v", file.Path, body, err)
				}
			}
		}
	}
}
