// Package pal holds the verbs of PAL orchestrations that are not controls.
package pal
