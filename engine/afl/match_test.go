package afl

import "placet/engine/testoutput"

func match(expected string, outputs ...string) (*bool, *string) {
	return testoutput.Match(expected, outputs...)
}
