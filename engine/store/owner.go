package store

import (
	"os/user"
	"strconv"
	"sync"
)

// owners remembers the logins of user ids.
type owners struct{ byID sync.Map }

// login returns the login of a user id, or the number where it has none.
func (o *owners) login(uid uint32) string {
	if name, ok := o.byID.Load(uid); ok {
		return name.(string)
	}
	name := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	o.byID.Store(uid, name)
	return name
}
