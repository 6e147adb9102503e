-- LOST ROWS (mended): a table attached, after the snapshot, to a middle level that was itself settled before.
-- expected in session A: l 1000, r 5 (as with filters off); seen with force: l 1 (first row unseen), r 5
CREATE TABLE root(k int, t text) PARTITION BY RANGE (k);
CREATE TABLE m PARTITION OF root FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (k);
CREATE TABLE m2 PARTITION OF root FOR VALUES FROM (100) TO (1000);
INSERT INTO root SELECT g, 'r' FROM generate_series(100,999) g;
CREATE TABLE l(k int, t text);
INSERT INTO l SELECT 500+g%5,'l' FROM generate_series(1,1000) g; INSERT INTO l SELECT 20,'ok' FROM generate_series(1,1000) g;
CREATE TABLE d(k int,v int); INSERT INTO d SELECT g,g FROM generate_series(0,999) g; ANALYZE;
-- A: BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM d LIMIT 1;
-- B: DELETE FROM l WHERE k >= 500; ALTER TABLE m ATTACH PARTITION l FOR VALUES FROM (10) TO (50);
-- A: SET bloomfam.join_filter = force; SET enable_nestloop = off; SET enable_mergejoin = off;
--    SELECT t, count(*) FROM root JOIN d USING (k) WHERE d.v BETWEEN 500 AND 504 GROUP BY 1;
