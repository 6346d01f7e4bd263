// Package badinput holds the bad files that the tests of every floor give to
// placet: all kinds of them as data in one place, and a measure of the memory
// that a reader takes. No part of the program imports it.
package badinput
