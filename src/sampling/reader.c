/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reads rows of a table while a query is planned: under conditions, and within a budget.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/restrictinfo.h"

#include "pg/compat.h"
#include "sampling/reader.h"

/* Longer values are not read: long ones take time to compare, and may be stored elsewhere. */
#define LONGEST_VALUE		1024

/*
 * Calling an operator takes about as long as reading this many bytes: 400 operators take as long as
 * a cached block of a table does.
 */
#define BYTES_OF_OPERATOR	20

const char	bloomfam_sample_overspent[] = "it would access too many blocks";

void
bloomfam_sample_reader_begin(SampleReader *reader, TupleTableSlot *slot,
							 const SampleConditions *conditions, SampleBudget *budget)
{
	memset(reader, 0, sizeof(*reader));
	reader->slot = slot;
	reader->budget = budget;
	reader->conditions = conditions;
	reader->estate = CreateExecutorState();
	reader->qual =
		ExecPrepareQual(extract_actual_clauses(conditions->evaluated, false), reader->estate);
}

void
bloomfam_sample_reader_end(SampleReader *reader)
{
	ExecDropSingleTupleTableSlot(reader->slot);
	FreeExecutorState(reader->estate);
}

bool
bloomfam_sample_is_short(SampleReader *reader, int16 typlen, Datum value)
{
	if (typlen == -1 && (VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
						 toast_raw_datum_size(value) > LONGEST_VALUE))
		reader->reason = "a value is longer than 1 kB, or stored outside of its row";
	return reader->reason == NULL;
}

bool
bloomfam_sample_may_go_on(SampleReader *reader)
{
	CHECK_FOR_INTERRUPTS();
	if (reader->reason == NULL && reader->budget->spent > reader->budget->most)
		reader->reason = bloomfam_sample_overspent;
	return reader->reason == NULL;
}

/* Spends what it takes to evaluate the conditions for the row in the slot, if they can be. */
static bool
spend_evaluation(SampleReader *reader)
{
	const SampleConditions *conditions = reader->conditions;
	int64		nbytes = (int64) (conditions->noperators + 1) * BYTES_OF_OPERATOR;
	int			column = -1;

	while ((column = bms_next_member(conditions->columns, column)) >= 0)
	{
		bool		isnull;
		Datum		value = slot_getattr(reader->slot, column, &isnull);
		int16		typlen =
			TupleDescAttr(reader->slot->tts_tupleDescriptor, column - 1)->attlen;

		if (isnull || typlen != -1)
			continue;
		if (!bloomfam_sample_is_short(reader, typlen, value))
			return false;
		nbytes += (int64) toast_raw_datum_size(value) * conditions->npasses;
	}
	bloomfam_sample_spend(reader->budget, 0, nbytes);
	return bloomfam_sample_may_go_on(reader);
}

/*
 * An error of bad data means that the row is none of the query's result, or that the query itself
 * will fail.  So does a unit that extract() or date_trunc() do not support.  The functions are the
 * server's own, which hold nothing that a subtransaction would have to release.
 */
bool
bloomfam_sample_meets_conditions(SampleReader *reader)
{
	ExprContext *context = GetPerTupleExprContext(reader->estate);
	MemoryContext old = CurrentMemoryContext;
	volatile bool meets = false;

	if (!spend_evaluation(reader))
		return false;
	ResetExprContext(context);
	context->ecxt_scantuple = reader->slot;
	PG_TRY();
	{
		meets = ExecQual(reader->qual, context);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		if (ERRCODE_TO_CATEGORY(geterrcode()) != ERRCODE_DATA_EXCEPTION &&
			geterrcode() != ERRCODE_FEATURE_NOT_SUPPORTED)
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	return meets;
}
