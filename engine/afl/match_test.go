package afl

import "placet/engine/check"

func match(expected string, outputs ...string) (*bool, *string) {
	return check.Match(expected, outputs...)
}
