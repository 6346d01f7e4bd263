// Package ask holds the verbs that ask people: ask, wait and withdraw.
package ask
