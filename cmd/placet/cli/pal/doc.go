// Package pal holds the verbs of PAL orchestrations that are more than controls.
package pal
