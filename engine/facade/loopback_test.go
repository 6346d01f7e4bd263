package facade

import "testing"

func TestLinksToLoopback(t *testing.T) {
	for link, want := range map[string]bool{
		"http://127.0.0.1:5000/": true, "http://127.8.9.10/": true, "https://localhost": true, "http://LocalHost.:1/x": true, "http://app.localhost:3000/": true,
		"http://[::1]:80/": true, "http://[0:0:0:0:0:0:0:1]/": true, "http://[::ffff:127.0.0.1]/": true, "http://[::ffff:7f00:1]/": true, "http://[::]/": true,
		"http://2130706433/": true, "http://0x7f000001/": true, "http://0X7F.1/": true, "http://017700000001/": true, "http://127.1/": true, "http://127.0.1": true,
		"http://0177.0.0.1/": true, "http://127.0.0.1./": true, "http://0/": true, "http://0.0.0.0:8787/": true, "http://0x/": true,
		"http://kim:secret@127.0.0.1/": true, "http://example.org@localhost/": true,
		"http://１２７.0.0.1/": true, "http://127。0。0。1/": true, "http://ⓛocalhost/": true, "http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/": true,

		"https://example.org/": false, "https://example.org/?next=http://127.0.0.1/": false, "https://localhost@example.org/": false, "https://127.0.0.1.example.org/": false,
		"https://localhost.example.org/": false, "https://mylocalhost/": false, "http://10.0.0.1/": false, "http://128.0.0.1/": false, "http://192.168.1.127/": false,
		"http://2130706432.1/": false, "http://4294967296/": false, "http://127.0.0.1.1.1/": false, "http://0x7g/": false, "http://127.0.0.256/": false, "http://[fe80::1]/": false,
		"https://münchen.example/": false, "mailto:kim@localhost.example": false, "docs/127.0.0.1.md": false, "https://1.1/": false, "https://08.1": false,
	} {
		if got := LeadsToLoopback(link); got != want {
			t.Errorf("%s: %v", link, got)
		}
	}
}
