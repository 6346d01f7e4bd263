package store

import (
	"os/user"
	"slices"
	"strconv"
	"sync"
)

// owners remembers the logins of user ids.
type owners struct{ byID sync.Map }

// known says who owns a file, as a document's Known.
func (o *owners) known(uid uint32) []string {
	if known, ok := o.byID.Load(uid); ok {
		return known.([]string)
	}
	name := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	known := []string{"owner:" + name}
	o.byID.Store(uid, slices.Clip(known))
	return known
}
