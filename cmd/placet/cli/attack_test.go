package cli_test

import (
	"path/filepath"
	"slices"
	"testing"
)

// attack is something that a hostile repository, agent or document does to a workspace, tried
// on the real program. Each row also has the honest counterpart, which must go on working.
type attack struct {
	// name is the row's name in the test's output.
	name string
	// does describes the attack in one sentence.
	does string
	// try makes a workspace, attacks it, and fails the test if the attack succeeds or the
	// honest counterpart does not.
	try func(t *testing.T, p *place)
}

// attacks are all rows; each topic has a file attack_<topic>_test.go.
var attacks = slices.Concat(
	wordsAttacks,
	gateAttacks,
	policyAttacks,
	effectsAttacks,
	optionAttacks,
	stateAttacks,
	sqliteAttacks,
	miscAttacks,
	scaleAttacks,
	journalAttacks,
	formAttacks,
	verifyAttacks,
	toldAttacks,
	shownAttacks,
	trustAttacks,
	changedAttacks,
	namesAttacks,
	identityAttacks,
	agentAttacks,
	fileAttacks,
	limitAttacks,
	fabricationAttacks,
	sourceAttacks,
	reuseAttacks,
	bindsAttacks,
	referenceAttacks,
	askedForAttacks,
	olderAttacks,
	showsAttacks,
	aboveAttacks,
	callAttacks,
	commentAttacks,
	coordinatorAttacks,
	linkAttacks,
	pageAttacks,
)

func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			t.Log(a.does)
			a.try(t, newPlace(t, filepath.Join(t.TempDir(), "ws"), 0))
		})
	}
}
