package nemawashi

import (
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// Timeouts of providers.
const (
	smtpTimeout    = 60 * time.Second
	httpTimeout    = 10 * time.Second
	longestTimeout = smtpTimeout
)

// send returns the order to the provider for an attempt of a part, as section 5 of the format page
// says.
func send(r *view, g *progress) engine.Send {
	c := r.conf()
	p, err := r.complete(g.Part)
	s := engine.Send{Key: g.key, Timeout: smtpTimeout, Response: response(p, g.key)}
	switch {
	case err != nil:
		s.Problem = templates.In(r.run.Lang, err)
	case p.Provider == "smtp":
		s.Mail = c.Mail.mail(p.List("to"))
		s.Mail.From, s.Mail.Subject, s.Mail.Body = asciiAddress(p.Text("from")), p.Text("subject"), p.Text("body")
	case p.Provider == "ics" && c.Calendar.SendInvitation:
		s.Mail = c.Mail.mail(p.List("attendee"))
		s.Mail.From, s.Mail.Subject, s.Mail.Body = asciiAddress(c.Mail.DefaultFrom), p.Text("title"), p.Text("description")
		s.Mail.Calendar = invitation(r, g)
	case p.Provider == "http" && p.Type == meetingRequest:
		s = call(s, c.Calendar.APIURL, engine.Secret{File: c.Calendar.APITokenFile, Env: "CALENDAR_API_TOKEN"}, p)
	case p.Provider == "http":
		s = call(s, c.HR.APIURL, engine.Secret{File: c.HR.APITokenFile, Env: "HR_API_TOKEN"}, p)
	}
	return s
}

// mail returns a mail to some people with the server of the settings.
func (c MailConfig) mail(to []string) *engine.Mail {
	for i := range to {
		to[i] = asciiAddress(to[i])
	}
	return &engine.Mail{
		Host: c.SMTPHost, Port: c.SMTPPort, TLS: c.SMTPTLS, Username: c.SMTPUsername,
		Password: engine.Secret{File: c.SMTPPasswordFile, Env: "SMTP_PASSWORD"}, To: to,
	}
}

// call adds the call of a service with the payload of a part. The service's answer becomes the
// response.
func call(s engine.Send, url string, token engine.Secret, p Part) engine.Send {
	s.Call = &engine.Call{URL: url, Token: token, Body: run.Must(schemas.Line(p.Payload))}
	s.Timeout, s.Response = httpTimeout, nil
	return s
}

// invitation returns the event.ics of a part, nil if the part is unusable.
func invitation(r *view, g *progress) []byte {
	p, err := r.complete(g.Part)
	if err != nil {
		return nil
	}
	body, err := Invitation(p, g.key, r.conf().Mail.DefaultFrom, r.run.State.job().CreatedAt.Time())
	if err != nil {
		return nil
	}
	return body
}

// response returns the answer of one of placet's own providers. Its id follows from the key.
func response(p Part, key string) []engine.Field {
	id := engine.Sum([]byte(key)).Hex()[:10]
	fields := func(names ...string) (list []engine.Field) {
		for _, name := range names {
			list = append(list, engine.Field{Name: name, Value: p.Payload.Get(name)})
		}
		return list
	}
	switch p.Type {
	case mailDraft:
		return append(append([]engine.Field{{Name: "message_id", Value: "mail-" + id}}, fields("to", "from", "subject")...), engine.Field{Name: "status", Value: "sent"})
	case meetingRequest:
		list := append([]engine.Field{{Name: "event_id", Value: "cal-" + id}}, fields("attendee", "title", "start_at", "end_at", "timezone", "meeting_url")...)
		list = append(list, engine.Field{Name: "status", Value: "confirmed"})
		if p.Provider == "ics" {
			list = append(list, engine.Field{Name: "file", Value: "event.ics"})
		}
		return list
	}
	return []engine.Field{{Name: "request_id", Value: "hr-" + id}, {Name: "status", Value: "submitted"}}
}
