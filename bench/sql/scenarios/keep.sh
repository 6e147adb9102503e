# SPDX-License-Identifier: PostgreSQL
# What it costs to keep a stored filter true, by the recipes of docs/stored.md: a load in one statement, and many small transactions.
#
# LOAD (100000) rows in one statement; TRANSACTIONS (5000) of one row; ROUNDS (5)
load=${LOAD:-100000}
transactions=${TRANSACTIONS:-5000}

# recipe BEGIN: the example of the page that begins so, up to its first query
recipe() { sed -n "/^$1/,/^INSERT INTO [a-z]* SELECT/p" ../../docs/stored.md | sed '$d'; }

# each table twice: with its recipe, and bare
sql -c "$(recipe 'CREATE TABLE session (token uuid')" -c "$(recipe 'CREATE TABLE payment (id bigint)')"
sql <<-SQL
	CREATE TABLE session_bare (LIKE session INCLUDING DEFAULTS);
	CREATE TABLE payment_bare (LIKE payment);
	CREATE TABLE payment_row (LIKE payment);
	CREATE FUNCTION row_follow() RETURNS trigger LANGUAGE plpgsql AS \$\$
	BEGIN
		UPDATE payment_filter SET filter = bloom_add(filter, NEW.id);
		RETURN NULL;
	END \$\$;
	CREATE TRIGGER follow AFTER INSERT ON payment_row FOR EACH ROW EXECUTE FUNCTION row_follow();
	CREATE PROCEDURE one_by_one(target regclass, rows int) LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN 1 .. rows LOOP
			EXECUTE format('INSERT INTO %s VALUES (\$1)', target) USING i;
			COMMIT;
		END LOOP;
	END \$\$;
SQL

few=$((transactions / 50))
echo "INSERT INTO session SELECT gen_random_uuid() FROM generate_series(1, $load);" > "$work/statement.sql"
echo "INSERT INTO session_bare SELECT gen_random_uuid() FROM generate_series(1, $load);" > "$work/statement_bare.sql"
echo "CALL one_by_one('payment', $transactions);" > "$work/pending.sql"
echo "CALL one_by_one('payment_bare', $transactions);" > "$work/pending_bare.sql"
echo "CALL one_by_one('payment_row', $few);" > "$work/row.sql"
echo "CALL one_by_one('payment_bare', $few);" > "$work/row_bare.sql"
measure "${ROUNDS:-5}" statement statement_bare pending pending_bare row row_bare

heading "Keeping a stored filter of a million keys true" "kept" "bare table"
slower statement statement_bare "" "$(thousands "$load") rows in one statement, statement trigger"
slower pending pending_bare "" "$(thousands "$transactions") rows one by one, table of pending keys"
slower row row_bare "" "$(thousands "$few") rows one by one, row trigger on the filter: never"
before=$(sql -c "SELECT pg_current_wal_insert_lsn()")
sql -f "$work/row.sql"
row "... WAL a row" "$(sql -c "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$before') / 1024 / $few")" kB
