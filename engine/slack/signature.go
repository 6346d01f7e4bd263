package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// Sign returns the signature of a body that was sent at a time, in seconds since
// 1970.
func Sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// Verify reports whether a body was signed with a secret at a time that differs from now
// by at most most.
func Verify(secret, timestamp, signature string, body []byte, now time.Time, most time.Duration) bool {
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || secret == "" || now.Sub(time.Unix(at, 0)).Abs() > most {
		return false
	}
	return hmac.Equal([]byte(Sign(secret, timestamp, body)), []byte(signature))
}
