// Package sqlite inserts rows into SQLite databases that other programs also read
// and write, and queries them. A database is a copy: the files of a workspace are
// the record, and a row that a database does not accept now is offered again. A
// database that is missing, or empty, is made whole in one transaction; an existing
// one is never altered. A row is never replaced: if its id is taken, the existing
// row is compared with ours.
package sqlite
