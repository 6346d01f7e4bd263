// Package optimizer holds the verbs of the family optimizer: trigger, next, replay and decide, and
// what check finds in its cycles.
package optimizer
