package main

import (
	"bufio"
	"context"
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

// pages is D1 and D2: the page with all open requests, and how soon every open page shows an answer.
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
	var opened, seen times
	for n := range b.starts {
		began := time.Now()
		if _, err := visitors[0].inbox(); err != nil {
			return err
		}
		opened = append(opened, time.Since(began))
		took, err := s.answerSeen(visitors, open[n])
		if err != nil {
			return err
		}
		seen = append(seen, took)
	}
	b.table.most("D1", fmt.Sprintf("the page with %d open requests, its last byte", b.listed), milliseconds(opened.median()), 300, "ms")
	b.table.most("D2", fmt.Sprintf("an answer shows in %d open pages, the slowest", openPages), milliseconds(seen.at(1)), 500, "ms")
	return s.close()
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
func (v visitor) inbox() (page string, err error) {
	resp, err := v.client.Get(v.url + "/")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("cannot measure: the inbox is %s", resp.Status)
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
