# SPDX-License-Identifier: PostgreSQL
# Filters as fields of Django's models, asked by lookups and expressions.
import os
import uuid
import decimal
import django
import keys
from django.conf import settings

settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"],
                                          "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}},
                   USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField")
django.setup()

# docs
from django.db import models


class BloomFilterField(models.Field):
    def db_type(self, connection):
        return "bloomfilter"


@BloomFilterField.register_lookup
class MayContain(models.Lookup):
    lookup_name = "may_contain"

    def as_sql(self, compiler, connection):
        filter, filter_parameters = self.process_lhs(compiler, connection)
        key, key_parameters = self.process_rhs(compiler, connection)
        return "%s @~ %s" % (filter, key), [*filter_parameters, *key_parameters]


class BloomAgg(models.Aggregate):
    function = "bloom_agg"
    output_field = BloomFilterField()


class Filter(models.Model):
    name = models.TextField(primary_key=True)
    filter = BloomFilterField(null=True)

    class Meta:
        app_label = "example"
        db_table = "filters"
# end


class Key(models.Model):
    i = models.IntegerField(primary_key=True)
    int = models.IntegerField()

    class Meta:
        app_label = "example"
        db_table = "keys"
        managed = False


class Segment(models.Model):
    name = models.TextField(primary_key=True)
    filter = BloomFilterField()

    class Meta:
        app_label = "example"
        db_table = "django_segments"


def example(key):
    # docs
    may_be_there = Filter.objects.filter(name="int", filter__may_contain=key).exists()
    asked = models.Func(models.F("filter"), models.Value([1, key]), function="bloom_may_contain_any", output_field=models.BooleanField())
    several = Filter.objects.filter(name="int").annotate(several=asked).get().several
    stored = Filter.objects.get(name="int").filter                              # a str
    Filter.objects.create(name="copy", filter=stored)
    Filter.objects.filter(name="copy").update(filter=models.Func(models.F("filter"), models.Value(key), function="bloom_add"))
    built = Key.objects.filter(i__lte=100).aggregate(filter=BloomAgg("int"))["filter"]
    # end
    return may_be_there, several, built


def of(type, function, *arguments, field=models.BooleanField(null=True), **options):
    expression = models.Func(*arguments, function=function, output_field=field, **options)
    return Filter.objects.filter(name=type).annotate(answer=expression).get().answer


def column(name):
    with django.db.connection.cursor() as cursor:
        cursor.execute("SELECT %s FROM keys" % name)
        return [row[0] for row in cursor]


absent = {"int": [-i for i in range(1, 1001)], "uuid": [uuid.UUID(int=i) for i in range(1000)], "text": ["no %d" % i for i in range(1000)],
          "numeric": [-i - decimal.Decimal("0.5") for i in range(1, 1001)], "bool": [False]}
for type in keys.types:
    keys.check(type, column(type), absent[type],
               lambda key: of(type, "bloom_may_contain", models.F("filter"), models.Value(key)),
               lambda key: of(type, None, models.Value(key), models.F("filter"), template="%(expressions)s", arg_joiner=" ~@ "),
               lambda many: of(type, "bloom_may_contain_all", models.F("filter"), models.Value(many)),
               lambda many: of(type, "cardinality", models.Func(models.F("filter"), models.Value(many), function="bloom_filter_keys"), field=models.IntegerField()),
               every=20)

may_be_there, several, built = example(7)
keys.same("the example's answers", (may_be_there, several), (True, True))
keys.same("all keys of what it has built", Filter.objects.filter(name="int").annotate(all=models.Func(models.Value(built), models.Value([i * 7 for i in range(1, 101)]),
          function="bloom_may_contain_all", output_field=models.BooleanField())).get().all, True)
with django.db.connection.cursor() as cursor:
    cursor.execute("SELECT bool_and(a.filter @~ k.int) FROM filters a, keys k WHERE a.name = 'copy'")
    keys.same("the copy has the same keys", cursor.fetchone()[0], True)

# tables that Django makes, and rows of them
with django.db.connection.schema_editor() as editor:
    editor.create_model(Segment)
Segment.objects.create(name="keys", filter=built)
Segment.objects.create(name="empty", filter=models.Func(models.Value(1000), function="bloom_create"))
keys.same("rows whose filter may have a key", [segment.name for segment in Segment.objects.filter(filter__may_contain=14)], ["keys"])
keys.same("others", [segment.name for segment in Segment.objects.exclude(filter__may_contain=14)], ["empty"])
keys.same("by a column of another table", Key.objects.filter(models.Exists(Segment.objects.filter(filter__may_contain=models.OuterRef("int")))).count() >= 100, True)
keys.same("filters are equal by their bytes", Segment.objects.filter(filter=built).count(), 1)
keys.done()
