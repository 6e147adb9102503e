// SPDX-License-Identifier: PostgreSQL
// DuckDB as the referee of kind parquet; see run.  The argument is the folder
// that has DuckDB; PostgreSQL is where psql goes by itself.
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { openSync, readSync, closeSync } from 'node:fs';

const folder = process.argv[2];
const { DuckDBInstance } = createRequire(`${folder}/`)('@duckdb/node-api');
const duckdb = await (await DuckDBInstance.create(':memory:')).connect();

// DuckDB 1.5.6 has a way of its own to look for decimals with a scale or of more than 9 digits, blobs and milliseconds: it does not find what it
// has stored itself.  It does not look for UUIDs.  Of these types ("mute") its bytes judge alone.  It writes no filters for decimals of
// more than 18 digits.
//
// Of each type: how DuckDB calls it, PostgreSQL's type of the keys, the column's type where that does not follow, and the i-th
// value as text.  For the values that are stored i is below STORED, those above are absent.
const STORED = 5000;
const ABSENT = 250;
const GROUP = 2048;		// rows of a row group: the least that DuckDB takes
const day = (i) => new Date(Date.UTC(1960, 0, 1 + i)).toISOString().slice(0, 10);
const time = (i) => new Date(i * 13000).toISOString().slice(11, 19);
const uuid = (i) => `${(i * 2654435761 % 4294967296).toString(16).padStart(8, '0')}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;
const types = [
	{ duckdb: 'TINYINT', key: 'int2', column: 'int32', stored: 200, absent: 50, value: (i) => `${i - 128}` },
	{ duckdb: 'SMALLINT', key: 'int2', value: (i) => `${i * 5 - 10000}` },
	{ duckdb: 'INTEGER', key: 'int4', value: (i) => `${i * 400001 - 1000000000}` },
	{ duckdb: 'BIGINT', key: 'int8', value: (i) => `${BigInt(i) * 1000000000001n - 2000000000000000n}` },
	{ duckdb: 'FLOAT', fpr: 0.05, key: 'float4', value: (i) => `${(i + 1) * 0.25}` },
	{ duckdb: 'DOUBLE', fpr: 0.05, key: 'float8', value: (i) => `${(i - 2600.5) * 1.1}` },
	{ duckdb: 'HUGEINT', key: 'float8', as: 'v::DOUBLE', value: (i) => `${i + 1}` },
	{ duckdb: 'DECIMAL(4,1)', mute: true, key: 'numeric(4,1)', column: 'decimal(4,1)', value: (i) => `${(i - 3000) / 10}` },
	{ duckdb: 'DECIMAL(9,2)', mute: true, key: 'numeric(9,2)', column: 'decimal(9,2)', value: (i) => ((i - 2000) * 1234.56).toFixed(2) },
	{ duckdb: 'DECIMAL(9,0)', key: 'numeric(9,0)', column: 'decimal(9,0)', value: (i) => `${(i - 2000) * 98765}` },
	{ duckdb: 'DECIMAL(9,9)', mute: true, key: 'numeric(9,9)', column: 'decimal(9,9)', value: (i) => ((i - 2000) * 0.0001).toFixed(9) },
	{ duckdb: 'DECIMAL(10,3)', mute: true, key: 'numeric(10,3)', column: 'decimal(10,3)', value: (i) => ((i - 2000) * 7.125).toFixed(3) },
	{ duckdb: 'DECIMAL(18,2)', mute: true, key: 'numeric(18,2)', column: 'decimal(18,2)', value: (i) => `${BigInt(i - 2000) * 1000000000001n}.${10 + i % 90}` },
	{ duckdb: 'DECIMAL(18,0)', mute: true, key: 'numeric(18,0)', column: 'decimal(18,0)', value: (i) => `${BigInt(i - 2000) * 100000000000007n}` },
	{ duckdb: 'DATE', key: 'date', value: day },
	{ duckdb: 'TIME', key: 'time', value: (i) => `${time(i)}.${String(i * 97 % 1000000).padStart(6, '0')}` },
	{ duckdb: 'TIMESTAMP', key: 'timestamp', value: (i) => `${day(i)} ${time(i)}.${String(i * 97 % 1000000).padStart(6, '0')}` },
	{ duckdb: 'TIMESTAMPTZ', key: 'timestamptz', value: (i) => `${day(i)} ${time(i)}.${String(i % 1000).padStart(6, '0')}+00` },
	{ duckdb: 'TIMESTAMP_S', key: 'timestamp', value: (i) => `${day(i)} ${time(i)}` },
	{ duckdb: 'TIMESTAMP_MS', key: 'timestamp', column: 'timestamp(3)', mute: true, value: (i) => `${day(i)} ${time(i)}.${String(i % 1000).padStart(3, '0')}` },
	{ duckdb: 'TIMESTAMP_NS', key: 'timestamp', column: 'timestamp(9)', value: (i) => `${day(i)} ${time(i)}.${String(i % 1000).padStart(6, '0')}` },
	{ duckdb: 'UUID', mute: true, key: 'uuid', value: uuid },
	{ duckdb: 'VARCHAR', key: 'text', value: (i) => ['', 'x', 'größe ', '日本語 ', "it's "][i % 5] + (i < 1 ? '' : `${i}`.repeat(1 + i % 12)) },
	{ duckdb: 'BLOB', mute: true, key: 'bytea', as: "unhex(v)", value: (i) => `00ff${i.toString(16).padStart(4, '0')}`.repeat(1 + i % 9) },
];

let failed = false;

function check(ok, text) {
	failed ||= !ok;
	console.log(`${ok ? 'ok      ' : 'FAILED  '}${text}`);
}

const quote = (text) => `'${text.replaceAll("'", "''")}'`;

async function rows(sql) {
	return (await duckdb.runAndReadAll(sql)).getRowsJson();
}

// The output of a script, a line a row.
function psql(script) {
	const result = spawnSync('psql', ['-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1'], { input: script, encoding: 'utf8', maxBuffer: 1 << 28 });

	if (result.status !== 0)
		throw new Error(`psql: ${result.stderr}\n${script.slice(0, 500)}`);
	return result.stdout.trim().split('\n');
}

// Writes values to a file, and returns the bytes of the filter of each row group.
async function write(file, type, values) {
	await rows(`CREATE OR REPLACE TABLE t AS SELECT (${type.as ?? 'v'})::${type.duckdb} AS v FROM unnest([${values.map(quote)}]) t(v)`);
	await rows(`COPY t TO ${quote(file)} (FORMAT parquet, ROW_GROUP_SIZE ${GROUP}, DICTIONARY_SIZE_LIMIT 1000000,
		BLOOM_FILTER_FALSE_POSITIVE_RATIO ${type.fpr ?? 0.3})`);
	const groups = await rows(`SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata(${quote(file)}) ORDER BY row_group_id`);
	const fd = openSync(file);
	const filters = groups.map(([offset, length]) => {
		const bytes = Buffer.alloc(Number(length));

		if (offset === null || readSync(fd, bytes, 0, bytes.length, Number(offset)) !== bytes.length || bytes.length === 0)
			throw new Error(`${type.duckdb}: there is no filter in the file`);
		return bytes;
	});

	closeSync(fd);
	return filters;
}

// The same filter of no keys: the bitset, which is all after its 15 bytes or more of header, cleared.
function emptied(bytes) {
	const empty = Buffer.from(bytes);
	let header = 1;

	while (bytes[header++] & 0x80);
	return empty.fill(0, header + 13);
}

const hex = (bytes) => `'\\x${bytes.toString('hex')}'::bytea`;
const as_key = (type, text) => (type.duckdb === 'BLOB' ? `\\x${text}` : text);
const file = `${folder}/file.parquet`;

for (const type of types) {
	const stored = Array.from({ length: type.stored ?? STORED }, (_, i) => type.value(i));
	const absent = Array.from({ length: type.absent ?? ABSENT }, (_, i) => type.value(stored.length + i));
	const filters = await write(file, type, stored);
	const key_type = type.key.replace(/\(.*/, '');
	const column = type.column ? `, ${quote(type.column)}` : '';
	let script = `SET TimeZone = 'UTC'; SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS bloomfam;
		CREATE TEMP TABLE filters (g int, data bytea, empty bytea);
		CREATE TEMP TABLE stored (g int, v ${type.key});
		CREATE TEMP TABLE absent (g int, n int, v ${type.key});\n`;

	filters.forEach((bytes, g) => { script += `INSERT INTO filters VALUES (${g}, ${hex(bytes)}, ${hex(emptied(bytes))});\n`; });
	script += `INSERT INTO stored VALUES ${stored.map((v, i) => `(${Math.floor(i / GROUP)}, ${quote(as_key(type, v))})`)};\n`;
	script += `INSERT INTO absent SELECT g, n, v::${type.key} FROM filters,
		(VALUES ${absent.map((v, i) => `(${i}, ${quote(as_key(type, v))})`)}) a(n, v);\n`;
	script += `CREATE TEMP TABLE f AS SELECT g, data, bloom_from_parquet(data, '${key_type}'${column}) AS f,
		bloom_from_parquet(empty, '${key_type}'${column}) AS empty FROM filters;\n`;

	const parts = [
		// 0: values that are lost; 1: and by the union of all
		`SELECT count(*) FROM stored JOIN f USING (g) WHERE NOT f @~ v`,
		`SELECT count(*) FROM stored, (SELECT bloom_union_agg(f) AS f FROM f) u WHERE NOT f @~ v`,
		// 2: are the bytes the same, if the keys are added to the emptied filter?
		`SELECT bool_and(bloom_to_parquet(bloom_add_all(empty, (SELECT array_agg(v)::${type.key}[] FROM stored s WHERE s.g = f.g))) =
			bloom_to_parquet(f)) FROM f`,
		// 3: and if they are added to one that was made here?  (Of floats, if 0 is no false positive: it would bring -0.)
		`SELECT bool_and(bloom_to_parquet(bloom_add_all(bloom_create((bloom_info(f)).capacity, 0.01, 'parquet'),
			(SELECT array_agg(v)::${type.key}[] FROM stored s WHERE s.g = f.g))) = data) FROM f`,
		// 4: and what does not pass through here, is it as it came?
		`SELECT bool_and(bloom_to_parquet(f) = data) FROM f`,
		// 5: the answers for absent values
		`SELECT string_agg(CASE WHEN f @~ v THEN '1' ELSE '0' END, '' ORDER BY g, n) FROM absent JOIN f USING (g)`,
	];
	const answers = psql(script + parts.join(';\n'));
	const floats = /^float/.test(type.key);

	check(filters.length === Math.ceil(stored.length / GROUP) && answers[0] === '0', `${type.duckdb}: every stored value is found`);
	check(answers[1] === '0', `${type.duckdb}: also in the union of ${filters.length} row groups`);
	check(answers[2] === 't', `${type.duckdb}: the same bytes of the same keys, added to the emptied filter`);
	if (type.column === undefined || type.column.startsWith('decimal'))
		check(answers[3] === 't', `${type.duckdb}: the same bytes of the same keys, added to a new filter`);
	// a NaN comes along
	if (!floats)
		check(answers[4] === 't', `${type.duckdb}: in and out, the same bytes`);

	if (!type.mute) {
		let theirs = '';
		let differ = 0;
		let false_positives = 0;

		const probe = (v) => rows(`SELECT bloom_filter_excludes FROM parquet_bloom_probe(${quote(file)}, 'v',
			${type.as ? v : quote(v)}::${type.duckdb}) ORDER BY row_group_id`);
		const excluded = [];
		let lost = 0;

		// does the referee find what it has stored?
		for (let i = 0; i < stored.length; i += 50)
			lost += (await probe(stored[i]))[Math.floor(i / GROUP)][0];
		check(lost === 0, `${type.duckdb}: DuckDB finds its own`);
		for (const v of absent)
			excluded.push(await probe(v));
		for (let g = 0; g < filters.length; g++)
			for (let n = 0; n < absent.length; n++)
				theirs += excluded[n][g][0] ? '0' : '1';
		for (let i = 0; i < theirs.length; i++) {
			differ += theirs[i] !== answers[5][i];
			false_positives += theirs[i] === '1';
		}
		// what DuckDB does not have of a float column is the NaN that came along: some 8 bits more
		check(answers[5].length === theirs.length && (floats ? differ <= theirs.length / 100 && !disagrees(theirs, answers[5]) : differ === 0),
			`${type.duckdb}: for ${theirs.length} absent values DuckDB's answers, of which ${false_positives} are "maybe"`);
		check(false_positives > 0 && false_positives < theirs.length, `${type.duckdb}: there are both answers`);
	}
}

// Is there a "maybe" of theirs that is a "no" of ours?
function disagrees(theirs, ours) {
	return [...theirs].some((answer, i) => answer === '1' && ours[i] === '0');
}

// What is special: stored so, asked for so.
async function special(text, type, values, key, keys, column) {
	const [bytes] = await write(file, type, values);
	const filter = `bloom_from_parquet(${hex(bytes)}, '${key.replace(/\(.*/, '')}'${column ? `, '${column}'` : ''})`;
	const answers = psql(keys.map((k) => `SELECT ${filter} @~ ${k}`).join(';\n'));

	check(answers.length === keys.length && answers.every((a) => a === 't'), `${text}: ${answers.join(' ')}`);
}

for (const [t, key] of [['FLOAT', 'float4'], ['DOUBLE', 'float8']]) {
	const both = [`'0'::${key}`, `'-0'::${key}`];

	await special(`${t}: -0 is 0`, { duckdb: t }, ['-0.0'], key, both);
	await special(`${t}: 0 is -0`, { duckdb: t }, ['0.0'], key, both);
	await special(`${t}: a NaN is every NaN`, { duckdb: t }, ['nan'], key, [`'NaN'::${key}`, `-'NaN'::${key}`]);
	await special(`${t}: -NaN is every NaN`, { duckdb: t, as: `-(v::${t})` }, ['nan'], key, [`'NaN'::${key}`, `-'NaN'::${key}`]);
	await special(`${t}: infinities`, { duckdb: t }, ['inf', '-inf'], key, [`'Infinity'::${key}`, `'-Infinity'::${key}`]);
}
for (const [t, key] of [['DATE', 'date'], ['TIMESTAMP', 'timestamp'], ['TIMESTAMPTZ', 'timestamptz']])
	await special(`${t}: infinities`, { duckdb: t }, ['infinity', '-infinity'], key, [`'infinity'::${key}`, `'-infinity'::${key}`]);
await special('BIGINT: asked for as integer and smallint', { duckdb: 'BIGINT' }, ['-7', '32000'], 'int8', ['-7::int4', '-7::int2', '32000::int4', '32000::int2']);
await special('INTEGER: asked for as bigint and smallint', { duckdb: 'INTEGER' }, ['-7', '32000'], 'int4', ['-7::int8', '-7::int2', '32000::int8', '32000::int2']);
await special('DOUBLE: asked for as real', { duckdb: 'DOUBLE' }, ['0.25', '-1e10'], 'float8', ["'0.25'::float4", "'-1e10'::float4"]);
await special('FLOAT: asked for as double precision', { duckdb: 'FLOAT' }, ['0.25', '1.1'], 'float4', ["'0.25'::float8", "'1.1'::float4::float8"]);
await special('DECIMAL(18,2): asked for with other scales', { duckdb: 'DECIMAL(18,2)' }, ['1.50', '-20'], 'numeric', ['1.5::numeric', '1.5000::numeric', '-20::numeric', '-2e1::numeric'], 'decimal(18,2)');
await special('DECIMAL: the largest and the smallest', { duckdb: 'DECIMAL(18,2)' }, ['9999999999999999.99', '-9999999999999999.99'], 'numeric',
	['9999999999999999.99', '-9999999999999999.99'], 'decimal(18,2)');
await special('VARCHAR: asked for as varchar and name', { duckdb: 'VARCHAR' }, ['key'], 'text', ["'key'::varchar", "'key'::name", "'key'"]);

process.exit(failed ? 1 : 0);
