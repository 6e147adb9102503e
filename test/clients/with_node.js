// SPDX-License-Identifier: PostgreSQL
// Asks filters as node-postgres does: every value is text of which the server is told no type, but for buffers.
const { Client } = require('pg');

let checks = 0;

function same(what, found, expected)
{
	const good = JSON.stringify(found) === JSON.stringify(expected);

	console.log(`${good ? 'ok' : 'not ok'} ${++checks} - ${what}`);
	if (!good)
		console.log(`# found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}

async function example(client, key)
{
	// docs
	const { rows: [{ filter }] } = await client.query("SELECT filter FROM filters WHERE name = 'int'"); // a string
	const asked = await client.query("SELECT bloom_may_contain(filter, $1) AS answer FROM filters WHERE name = 'int'", [key]);
	const kept = await client.query("SELECT bloom_filter_keys(filter, $1) AS keys FROM filters WHERE name = 'int'", [[1, key]]);
	await client.query("INSERT INTO filters VALUES ('copy', $1)", [filter]);
	const { rows: [{ data }] } = await client.query("SELECT filter::bytea AS data FROM filters WHERE name = 'int'"); // a Buffer
	await client.query("UPDATE filters SET filter = $1 WHERE name = 'copy'", [data]);
	// end
	return [asked.rows[0].answer, kept.rows[0].keys];
}

async function main()
{
	const client = new Client();
	const range = n => [...Array(n).keys()];
	const absent = {
		int: range(1000).map(i => -1 - i), uuid: range(1000).map(i => '00000000-0000-0000-0000-' + String(i).padStart(12, '0')),
		text: range(1000).map(i => 'no ' + i), numeric: range(1000).map(i => -0.5 - i), bool: [false],
	};

	await client.connect();
	for (const type of ['int', 'uuid', 'text', 'numeric', 'bool'])
	{
		const ask = async (expression, parameter) =>
			(await client.query({ name: type + expression, text: `SELECT ${expression} AS answer FROM filters WHERE name = '${type}'`, values: [parameter] })).rows[0].answer;
		const count = async (expression, keys, answer) => {
			let n = 0;

			for (const key of keys)
				n += await ask(expression, key) === answer;
			return n;
		};
		const present = (await client.query(`SELECT ${type} AS key FROM keys`)).rows.map(row => row.key);
		const one = 'bloom_may_contain(filter, $1)', all = 'bloom_may_contain_all(filter, $1)', kept = 'cardinality(bloom_filter_keys(filter, $1))';

		same(`${type}: 1000 keys`, present.length, 1000);
		same(`${type}: each key is found`, await count(one, present, true), 1000);
		same(`${type}: and by the operator`, await count('$1 ~@ filter', present, true), 1000);
		same(`${type}: others are not`, await count(one, absent[type], false), absent[type].length);
		same(`${type}: NULL`, [await ask(one, null), await ask(all, null)], [null, null]);
		same(`${type}: an array of all keys`, [await ask(all, present), await ask(kept, present)], [true, 1000]);
		same(`${type}: an array with others`, [await ask(all, present.concat(absent[type])), await ask(kept, absent[type].concat(present))], [false, 1000]);
		same(`${type}: an array of none, and of NULL`, [await ask(all, []), await ask(kept, []), await ask(kept, [null, ...present.slice(0, 3)])], [true, 0, 3]);
	}
	for (const [call, values, expected] of [
		['bloom_agg(int, $1)', [0.001], [0.001, 'blocked']], ['bloom_agg(int, $1)', ['ribbon'], [0.01, 'ribbon']],
		["bloom_agg(int, $1, 'ribbon')", [0.001], [0.001, 'ribbon']], ['bloom_agg(int, $1, $2)', [0.001, 'ribbon'], [0.001, 'ribbon']],
		['bloom_agg(int, $1, $2, $3)', [0.001, 'standard', 5000], [0.001, 'standard']],
		["bloom_fold(bloom_agg(int, 1e-6, 'standard'), $1)", [0.02], [0.02, 'standard']],
		['bloom_agg(bloom_key(int), $1)', [0.001], [0.001, 'blocked']]])
	{
		const { rows: [row] } = await client.query(`SELECT target_fpr, kind FROM bloom_info((SELECT ${call} FROM keys))`, values);

		same(`${call} with ${values}`, [row.target_fpr, row.kind], expected);
	}
	same('a buffer as a key is an error', await client.query("SELECT bloom_may_contain(filter, $1) FROM filters WHERE name = 'text'", [Buffer.from('x')]).catch(error => error.code), '0A000');
	const [answer, kept] = await example(client, 7);
	same("the example's answer", answer, true);
	same("the example's keys", kept.map(Number), [7]);
	same('a filter stored as text, and as bytes, is the same',
		Number((await client.query("SELECT count(*) FROM filters a JOIN filters b USING (filter) WHERE a.name = 'int' AND b.name = 'copy'")).rows[0].count), 1);
	console.log(`1..${checks}`);
	await client.end();
}

main().catch(error => { console.log(`Bail out! ${error.stack}`); process.exit(1); });
