package facade

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"sync"
	"time"
)

// How long a session lasts, and how long a login link is valid.
const (
	sessionTime = 12 * time.Hour
	linkTime    = 10 * time.Minute
	// mostSessions is how many sessions there may be; the oldest ends for a new one.
	mostSessions = 1000
)

// cookiePrefix begins the name of a session's cookie.
const cookiePrefix = "placet_session_"

// Sessions holds the browsers that are logged in. They are only in memory: a restart logs
// them out.
type Sessions struct {
	// Site distinguishes the cookies from those of other servers of this machine: browsers
	// send a cookie to every port of a host.
	Site string
	// Owner is the user who logs in by a link that names no token.
	Owner string
	// Secure says that browsers connect by https.
	Secure bool
	// Take invalidates a login link and returns the token that it was made for, "" for the
	// owner; ok is false if there is no such link, or it has expired.
	Take func(hash string, now time.Time) (token string, ok bool)

	mu   sync.Mutex
	open map[string]*Session // by the hash of the cookie
}

// Session is one browser.
type Session struct {
	who   Identity
	csrf  string
	until time.Time
	hash  string
}

// CSRF returns the token that every form of the session contains.
func (s *Session) CSRF() string { return s.csrf }

// checks reports whether a form is the session's own.
func (s *Session) checks(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(csrf), []byte(s.csrf)) == 1
}

// secret returns 32 random bytes as a word.
func secret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails: crypto/rand
	return base64.RawURLEncoding.EncodeToString(raw)
}

// NewLink returns the word of a login link, and its hash. Only the hash is stored.
func NewLink() (word, hash string) {
	word = secret()
	return word, HashOf(word)
}

// LinkTime is how long a login link is valid.
const LinkTime = linkTime

// HashOf returns the hash of a word, which is stored instead of the word.
func HashOf(word string) string {
	sum := sha256.Sum256([]byte(word))
	return hex.EncodeToString(sum[:])
}

// Login begins a session for the word of a login link, and sets its cookie.
func (s *Sessions) Login(w http.ResponseWriter, word string, tokens Tokens, now time.Time) (*Session, error) {
	token, ok := s.Take(HashOf(word), now)
	if !ok {
		return nil, Deny(http.StatusForbidden, "link", "page.no.link")
	}
	who := Identity{Known: "owner:" + s.Owner, User: s.Owner, Roles: Roles}
	if token != "" {
		t, ok := tokens.Named(token, now)
		if !ok {
			return nil, Deny(http.StatusForbidden, "link", "page.no.token")
		}
		who = identityOf(t)
	}
	cookie := secret()
	one := &Session{who: who, csrf: secret(), until: now.Add(sessionTime), hash: HashOf(cookie)}
	s.mu.Lock()
	s.begin(one, now)
	s.mu.Unlock()
	http.SetCookie(w, s.cookie(cookie, int(sessionTime/time.Second)))
	return one, nil
}

// begin adds a session, and ends those that have expired, or the oldest if there are too
// many.
func (s *Sessions) begin(one *Session, now time.Time) {
	if s.open == nil {
		s.open = map[string]*Session{}
	}
	var oldest *Session
	for hash, other := range s.open {
		if !now.Before(other.until) {
			delete(s.open, hash)
		} else if oldest == nil || other.until.Before(oldest.until) {
			oldest = other
		}
	}
	if len(s.open) >= mostSessions {
		delete(s.open, oldest.hash)
	}
	s.open[one.hash] = one
}

func (s *Sessions) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookiePrefix + s.Site, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteStrictMode}
}

// Logout ends a session and removes its cookie.
func (s *Sessions) Logout(w http.ResponseWriter, one *Session) {
	s.mu.Lock()
	delete(s.open, one.hash)
	s.mu.Unlock()
	http.SetCookie(w, s.cookie("", -1))
}

// of returns the caller with a session's cookie. A session for a token ends with the
// token.
func (s *Sessions) of(r *http.Request, tokens Tokens, now time.Time) (Identity, bool) {
	cookie, err := r.Cookie(cookiePrefix + s.Site)
	if err != nil {
		return Identity{}, false
	}
	s.mu.Lock()
	one := s.open[HashOf(cookie.Value)]
	s.mu.Unlock()
	if one == nil || !now.Before(one.until) {
		return Identity{}, false
	}
	who := one.who
	if who.Token != "" {
		t, ok := tokens.Named(who.Token, now)
		if !ok {
			return Identity{}, false
		}
		who = identityOf(t)
	}
	who.Session, who.Source = one, "web"
	return who, true
}

// holds reports whether a session has not ended.
func (s *Sessions) holds(one *Session, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[one.hash] == one && now.Before(one.until)
}
