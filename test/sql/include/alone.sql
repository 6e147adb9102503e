-- Waits until no other session of this database has a snapshot, so that VACUUM removes all that was deleted, and marks all pages that it can as
-- all-visible.  Otherwise an ANALYZE by autovacuum may keep it from both.
CREATE PROCEDURE wait_until_alone() LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_xmin IS NOT NULL) LOOP
		PERFORM pg_sleep(0.1);
		COMMIT;
	END LOOP;
END $$;
