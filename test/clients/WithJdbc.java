// SPDX-License-Identifier: PostgreSQL
// Asks filters as JDBC does: a value has the type of the method that sets it, and none with Types.OTHER.
import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

public class WithJdbc
{
	static Connection connection;
	static int checks = 0;

	static void same(String what, Object found, Object expected)
	{
		boolean good = Objects.equals(String.valueOf(found), String.valueOf(expected));

		System.out.println((good ? "ok " : "not ok ") + ++checks + " - " + what);
		if (!good)
			System.out.println("# found " + found + ", expected " + expected);
	}

	static Object value(PreparedStatement statement) throws SQLException
	{
		try (ResultSet result = statement.executeQuery())
		{
			result.next();
			return result.getObject(1);
		}
	}

	static Object ask(String type, String expression, Object parameter, int sqlType) throws SQLException
	{
		try (PreparedStatement statement = connection.prepareStatement("SELECT " + expression + " FROM filters WHERE name = '" + type + "'"))
		{
			if (parameter == null)
				statement.setNull(1, sqlType);
			else if (sqlType == Types.OTHER && !(parameter instanceof UUID))
				statement.setObject(1, String.valueOf(parameter), sqlType);
			else
				statement.setObject(1, parameter);
			return value(statement);
		}
	}

	static long count(String type, String expression, List<Object> keys, boolean answer, int sqlType) throws SQLException
	{
		long n = 0;

		for (Object key : keys)
			n += ask(type, expression, key, sqlType).equals(answer) ? 1 : 0;
		return n;
	}

	static Object[] example(long key) throws SQLException
	{
		Object[] answers = new Object[2];

		// docs
		String filter;
		byte[] data;
		try (Statement statement = connection.createStatement();
			 ResultSet result = statement.executeQuery("SELECT filter, filter::bytea FROM filters WHERE name = 'int'"))
		{
			result.next();
			filter = result.getString(1);
			data = result.getBytes(2);
		}
		try (PreparedStatement asking = connection.prepareStatement("SELECT bloom_may_contain(filter, ?) FROM filters WHERE name = 'int'"))
		{
			asking.setLong(1, key);			// or setObject(1, "7", Types.OTHER)
			answers[0] = value(asking);
		}
		try (PreparedStatement many = connection.prepareStatement("SELECT bloom_filter_keys(filter, ?) FROM filters WHERE name = 'int'"))
		{
			many.setArray(1, connection.createArrayOf("bigint", new Object[] {1L, key}));
			answers[1] = ((Array) value(many)).getArray();
		}
		try (PreparedStatement storing = connection.prepareStatement("INSERT INTO filters VALUES ('copy', ?)"))
		{
			storing.setObject(1, filter, Types.OTHER);
			storing.executeUpdate();
		}
		try (PreparedStatement storing = connection.prepareStatement("UPDATE filters SET filter = ? WHERE name = 'copy'"))
		{
			storing.setBytes(1, data);
			storing.executeUpdate();
		}
		// end
		return answers;
	}

	public static void main(String[] args) throws SQLException
	{
		String[] elements = {"bigint", "uuid", "text", "numeric", "boolean"};
		String[] types = {"int", "uuid", "text", "numeric", "bool"};

		connection = DriverManager.getConnection("jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"),
			System.getenv("PGUSER"), System.getenv("PGPASSWORD"));
		for (int t = 0; t < types.length; t++)
		{
			List<Object> present = new ArrayList<>();
			List<Object> absent = new ArrayList<>();
			String type = types[t];
			String one = "bloom_may_contain(filter, ?)";

			try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery("SELECT " + type + " FROM keys"))
			{
				while (result.next())
					present.add(result.getObject(1));
			}
			for (int i = 1; i <= 1000; i++)
				absent.add(t == 0 ? (Object) (-i) : t == 1 ? new UUID(0, i) : t == 2 ? "no " + i : t == 3 ? new BigDecimal(-i) : (Object) false);
			same(type + ": 1000 keys", present.size(), 1000);
			same(type + ": each key is found", count(type, one, present, true, Types.NULL), 1000);
			same(type + ": and without a type", count(type, "? ~@ filter", present, true, Types.OTHER), 1000);
			same(type + ": others are not", count(type, one, absent, false, Types.NULL), 1000);
			same(type + ": NULL", ask(type, one, null, Types.OTHER), null);

			Object[] keys = present.toArray();
			Array array = connection.createArrayOf(elements[t], keys);
			same(type + ": an array of all keys", ask(type, "bloom_may_contain_all(filter, ?)", array, Types.ARRAY), true);
			same(type + ": and without a type", ask(type, "cardinality(bloom_filter_keys(filter, ?))", array, Types.OTHER), 1000);
		}
		for (Object[] call : new Object[][] {
			{"bloom_agg(int, ?)", new Object[] {0.001}, "0.001 blocked"}, {"bloom_agg(int, ?)", new Object[] {new BigDecimal("0.001")}, "0.001 blocked"},
			{"bloom_agg(int, ?)", new Object[] {"0.001"}, "0.001 blocked"}, {"bloom_agg(int, ?)", new Object[] {"ribbon"}, "0.01 ribbon"},
			{"bloom_agg(int, ?, 'ribbon')", new Object[] {0.001}, "0.001 ribbon"}, {"bloom_agg(int, ?, ?)", new Object[] {0.001, "ribbon"}, "0.001 ribbon"},
			{"bloom_agg(int, ?, ?, ?)", new Object[] {0.001, "standard", 5000}, "0.001 standard"},
			{"bloom_fold(bloom_agg(int, 1e-6, 'standard'), ?)", new Object[] {0.02}, "0.02 standard"}})
			try (PreparedStatement making = connection.prepareStatement("SELECT target_fpr || ' ' || kind FROM bloom_info((SELECT " + call[0] + " FROM keys))"))
			{
				Object[] parameters = (Object[]) call[1];

				for (int i = 0; i < parameters.length; i++)
					making.setObject(i + 1, parameters[i]);
				same(call[0] + " with " + Arrays.toString(parameters), value(making), call[2]);
			}
		Object[] answers = example(7);
		same("the example's answer", answers[0], true);
		same("the example's keys", Arrays.toString((Object[]) answers[1]), "[7]");
		same("a filter stored as text, and as bytes, is the same",
			value(connection.prepareStatement("SELECT count(*) FROM filters a JOIN filters b USING (filter) WHERE a.name = 'int' AND b.name = 'copy'")), 1);
		System.out.println("1.." + checks);
	}
}
