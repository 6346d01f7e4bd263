#!/bin/sh
# The test of receipt.sh, in the Test Anything Protocol.
if [ ! -f receipt.sh ]; then
	echo "not ok 1 - receipt.sh is not implemented yet"
	exit 1
fi
n=0 right=0
check() { # NAME EXPECTED PRICE…
	name=$1 expected=$2 n=$((n + 1))
	shift 2
	got=$(sh receipt.sh "$@" 2>&1)
	if [ "$got" = "$expected" ]; then
		right=$((right + 1))
		echo "ok $n - $name"
	else
		echo "not ok $n - $name: expected $expected but got $got"
	fi
}
check "nothing bought" 0
check "one price" 250 250
check "three prices" 655 250 325 80
echo "$right of $n right"
[ "$right" = "$n" ]
