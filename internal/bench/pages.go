package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// openPages is how many pages are open in D2, and pageDelay is how long the page's script waits
// after an event for others that come with it.
const (
	openPages = 2
	pageDelay = 25 * time.Millisecond
)

// visitor is a browser without rendering: it is logged in, and fetches pages.
type visitor struct {
	client *http.Client
	url    string
}

// pages is D1 to D3: the page with all open requests, how soon every open page shows an answer, and the
// page of a long question.
func (b *bench) pages() error {
	s, err := b.serve("pages", b.listed)
	if err != nil {
		return err
	}
	visitors := make([]visitor, openPages)
	for i := range visitors {
		if visitors[i], err = s.visitor(b.placet); err != nil {
			return err
		}
	}
	time.Sleep(2100 * time.Millisecond) // younger files are not cached
	open, err := s.list()
	if err != nil {
		return err
	}
	var opened, worked, seen times
	for n := range b.starts {
		took, used, err := s.fetch(visitors[0], "/", nil)
		if err != nil {
			return err
		}
		opened, worked = append(opened, took), append(worked, used)
		if took, err = s.answerSeen(visitors, open[n]); err != nil {
			return err
		}
		seen = append(seen, took)
	}
	b.table.most("D1", fmt.Sprintf("the page with %d open requests, its last byte", b.listed), milliseconds(opened.median()), 300, "ms")
	b.table.note("D1", "the same, processor time", short(worked.mean()))
	b.table.most("D2", fmt.Sprintf("an answer shows in %d open pages, the slowest", openPages), milliseconds(seen.at(1)), 500, "ms")
	if err := b.longQuestion(s, visitors[0]); err != nil {
		return err
	}
	return s.close()
}

// These are what D3's question is about: a little more than a page shows.
const (
	longText  = 500 << 10 // bytes of Markdown
	longLines = 2000      // of a difference, and cutLines more
	cutLines  = 100
)

// longQuestion is D3: the page of a question about long files, beside all others.
func (b *bench) longQuestion(s *answering, v visitor) error {
	part := "## Step\n\nSome *words* with `code`, [a link](https://example.org/x) and more words.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc f() int { return 1 } // c\n```\n\n"
	text := strings.Repeat(part, longText/len(part))
	changed := (longLines + cutLines) / 2
	diff := fmt.Sprintf("--- a/f.go\n+++ b/f.go\n@@ -1,%d +1,%d @@\n", changed, changed)
	for n := range changed {
		diff += fmt.Sprintf("-\told(%d) // what stood here\n+\tchanged(%d) // what stands here now\n", n, n)
	}
	if err := errors.Join(s.write("plan.md", text), s.write("change.diff", diff)); err != nil {
		return err
	}
	if err := s.verb(b.placet, &struct{}{}, "ask", "Merge it?", "--artifact", "plan.md", "--artifact", "change.diff"); err != nil {
		return err
	}
	var open []request
	for began := time.Now(); len(open) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			return errors.New("cannot measure: the question is not opened")
		}
		if err := s.call(http.MethodGet, "/api/v1/requests?family=ask", nil, &struct {
			Requests *[]request `json:"requests"`
		}{&open}); err != nil {
			return err
		}
	}
	shows := func(page string) error {
		switch {
		case strings.Count(page, "what stands here now") < longLines/2-10 || strings.Count(page, "and more words") < longText/len(part)-1:
			return errors.New("cannot measure: the page does not show the files")
		case !strings.Contains(page, "more lines are not shown here"):
			return errors.New("cannot measure: the page does not say what it leaves out")
		}
		return nil
	}
	var all, worked times
	for range 4 * b.starts {
		took, used, err := s.fetch(v, "/requests/"+url.PathEscape(open[0].Run+":"+open[0].ID), shows)
		if err != nil {
			return err
		}
		all, worked = append(all, took), append(worked, used)
	}
	b.table.most("D3", fmt.Sprintf("a question with %d KB of Markdown, %d lines of diff", longText>>10, longLines+cutLines), milliseconds(all.median()), 150, "ms")
	b.table.note("D3", "the same, processor time", short(worked.mean()))
	return nil
}

// fetch fetches a page, and returns how long that took and the processor time that the server used.
func (s *answering) fetch(v visitor, path string, shows func(page string) error) (took, used time.Duration, err error) {
	before, err := s.daemon.processor()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	page, err := v.get(path)
	took = time.Since(began)
	if err == nil && shows != nil {
		err = shows(page)
	}
	after, usedErr := s.daemon.processor()
	return took, after - before, errors.Join(err, usedErr)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// visitor logs in with a link.
func (s *answering) visitor(placet string) (v visitor, err error) {
	var made struct {
		Link string `json:"link"`
	}
	if err := s.verb(placet, &made, "login"); err != nil {
		return v, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return v, err
	}
	pages, err := url.Parse(made.Link)
	if err != nil {
		return v, err
	}
	// As in a browser, every name below localhost is this machine.
	local := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", pages.Port()))
	}}
	v = visitor{&http.Client{Jar: jar, Transport: local}, "http://" + pages.Host}
	resp, err := v.client.PostForm(v.url+"/login", url.Values{"link": {made.Link}})
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/" {
		return v, fmt.Errorf("cannot measure: the login leads to %s, %s", resp.Request.URL.Path, resp.Status)
	}
	return v, nil
}

// inbox fetches the page of all open requests.
func (v visitor) inbox() (page string, err error) { return v.get("/") }

// get fetches a page.
func (v visitor) get(path string) (page string, err error) {
	resp, err := v.client.Get(v.url + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("cannot measure: %s is %s", path, resp.Status)
	}
	return string(body), err
}

// listen opens a page's stream of events, and returns a function that waits until a request
// is closed.
func (v visitor) listen() (closed func(request string) error, end func(), err error) {
	resp, err := v.client.Get(v.url + "/api/v1/events")
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(resp.Body)
	return func(request string) error {
		for lines.Scan() {
			if line := lines.Text(); strings.Contains(line, `"state":"closed"`) && strings.Contains(line, request) {
				return nil
			}
		}
		return fmt.Errorf("cannot measure: the stream ends before %s is closed: %v", request, lines.Err())
	}, func() { resp.Body.Close() }, nil
}

// answerSeen answers a request, and returns how long it took until every open page had
// fetched the list without it.
func (s *answering) answerSeen(visitors []visitor, r request) (time.Duration, error) {
	shown := make(chan error, len(visitors))
	for _, v := range visitors {
		closed, end, err := v.listen()
		if err != nil {
			return 0, err
		}
		defer end()
		go func() {
			err := closed(r.ID)
			if err == nil {
				time.Sleep(pageDelay)
				var page string
				if page, err = v.inbox(); err == nil && strings.Contains(page, r.Run+":"+r.ID) {
					err = fmt.Errorf("cannot measure: %s is closed and still listed", r.ID)
				}
			}
			shown <- err
		}()
	}
	began := time.Now()
	if err := s.answerOne(r); err != nil {
		return 0, err
	}
	for range visitors {
		if err := <-shown; err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
