# SPDX-License-Identifier: PostgreSQL
# Filters as columns of SQLAlchemy's models, asked in its language.
import uuid
import decimal
import warnings
import sqlalchemy
import keys

# docs
from sqlalchemy import Boolean, Column, Text, create_engine, func, literal, select
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.types import UserDefinedType


class BloomFilter(UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **options):
        return "bloomfilter"

    def coerce_compared_value(self, operator, value):
        return literal(value).type                  # a key is no filter

    class comparator_factory(UserDefinedType.Comparator):
        def may_contain(self, key):
            return self.op("@~", return_type=Boolean())(key)

        def may_contain_any(self, keys):
            return func.bloom_may_contain_any(self.expr, keys, type_=Boolean())


Base = declarative_base()


class Filter(Base):
    __tablename__ = "filters"
    name = Column(Text, primary_key=True)
    filter = Column(BloomFilter)
# end


class Segment(Base):
    __tablename__ = "sqlalchemy_segments"
    name = Column(Text, primary_key=True)
    filter = Column(BloomFilter, server_default=func.bloom_create(1000), nullable=False)


engine = create_engine("postgresql+psycopg2://")


def value(query):
    with engine.connect() as connection:
        return connection.execute(query).scalar()


def column(name):
    with engine.connect() as connection:
        return connection.execute(sqlalchemy.text("SELECT %s FROM keys" % name)).scalars().all()


def of(type, what):
    return value(select(what).where(Filter.name == type))


def example(key):
    # docs
    with Session(engine) as session:
        may_be_there = session.query(Filter.name).filter(Filter.name == "int", Filter.filter.may_contain(key)).first()
        several = session.query(Filter.filter.may_contain_any([1, key])).filter(Filter.name == "int").scalar()
        those = session.query(func.bloom_filter_keys(Filter.filter, [1, key])).filter(Filter.name == "int").scalar()
        stored = session.get(Filter, "int").filter                              # a str
        session.add(Filter(name="copy", filter=stored))
        session.flush()
        session.query(Filter).filter(Filter.name == "copy").update({"filter": func.bloom_add(Filter.filter, key)}, synchronize_session=False)
        session.commit()
    # end
    return may_be_there, several, those


warnings.simplefilter("error")
absent = {"int": [-i for i in range(1, 1001)], "uuid": [uuid.UUID(int=i) for i in range(1000)], "text": ["no %d" % i for i in range(1000)],
          "numeric": [-i - decimal.Decimal("0.5") for i in range(1, 1001)], "bool": [False]}
for type in keys.types:
    keys.check(type, column(type), absent[type],
               lambda key: of(type, Filter.filter.may_contain(key)),
               lambda key: of(type, literal(key).op("~@", return_type=Boolean())(Filter.filter)) if key is not None else None,
               lambda many: of(type, func.bloom_may_contain_all(Filter.filter, many)),
               lambda many: of(type, func.cardinality(func.bloom_filter_keys(Filter.filter, many))), every=20)

may_be_there, several, those = example(7)
keys.same("the example", (may_be_there, several, those), (("int",), True, [7]))
keys.same("the copy has the same keys", value(sqlalchemy.text("SELECT bool_and(a.filter @~ k.int) FROM filters a, keys k WHERE a.name = 'copy'")), True)

# tables that SQLAlchemy makes; a value that the server makes; rows of a model; reflection
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add(Segment(name="empty"))
    session.add(Segment(name="keys", filter=select(func.bloom_agg(sqlalchemy.column("int"))).select_from(sqlalchemy.table("keys")).scalar_subquery()))
    session.commit()
    names = [segment.name for segment in session.execute(select(Segment).where(Segment.filter.may_contain(14)).order_by(Segment.name)).scalars()]
    keys.same("rows whose filter may have a key", names, ["keys"])
    keys.same("filters are equal by their bytes", session.query(Segment).filter(Segment.filter == session.get(Segment, "keys").filter).count(), 1)
# docs
sqlalchemy.dialects.postgresql.base.ischema_names["bloomfilter"] = BloomFilter
# end
reflected = sqlalchemy.Table("sqlalchemy_segments", sqlalchemy.MetaData(), autoload_with=engine)
keys.same("reflection knows the type", isinstance(reflected.c.filter.type, BloomFilter), True)
keys.done()
