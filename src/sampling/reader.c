/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reads rows of a table while a query is planned, under conditions and within a budget.
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

/*
 * Values of more bytes are not read: they take time to compare, and may be stored outside of the
 * row.
 */
#define LONGEST_VALUE		1024

/*
 * Calling an operator is charged as reading this many bytes, which takes about as long: 400
 * operators take as long as a cached block of a table does.
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
	reader->owner = ResourceOwnerCreate(CurrentResourceOwner, "join sample");
	reader->estate = CreateExecutorState();
	reader->qual =
		ExecPrepareQual(extract_actual_clauses(conditions->evaluated, false), reader->estate);
}

/*
 * Releases what evaluating the conditions has left, as at the end of a failed transaction.  Deletes
 * the resource owner, too, as since PostgreSQL 17 an owner that was released takes nothing more.
 */
static void
release(SampleReader *reader)
{
	for (int phase = RESOURCE_RELEASE_BEFORE_LOCKS; phase <= RESOURCE_RELEASE_AFTER_LOCKS; phase++)
		ResourceOwnerRelease(reader->owner, phase, false, false);
	ResourceOwnerDelete(reader->owner);
}

void
bloomfam_sample_reader_end(SampleReader *reader)
{
	release(reader);
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

/*
 * Spends what it costs to evaluate the conditions for the row in the slot.  Returns whether they
 * can be evaluated.
 */
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
 * Catches errors that bad data raise in a condition: either the row is not in the query's result,
 * or the query itself will fail.  They are caught without a subtransaction: what the function held
 * belongs to a resource owner of the reader, which releases it.
 */
bool
bloomfam_sample_meets_conditions(SampleReader *reader)
{
	ExprContext *context = GetPerTupleExprContext(reader->estate);
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool meets = false;

	if (!spend_evaluation(reader))
		return false;
	ResetExprContext(context);
	context->ecxt_scantuple = reader->slot;
	PG_TRY();
	{
		CurrentResourceOwner = reader->owner;
		meets = ExecQual(reader->qual, context);
	}
	PG_CATCH();
	{
		int			category = ERRCODE_TO_CATEGORY(geterrcode());

		MemoryContextSwitchTo(old);
		CurrentResourceOwner = owner;
		if (category != ERRCODE_DATA_EXCEPTION && category != ERRCODE_FEATURE_NOT_SUPPORTED &&
			category != ERRCODE_PROGRAM_LIMIT_EXCEEDED &&
			geterrcode() != ERRCODE_INDETERMINATE_COLLATION)
			PG_RE_THROW();
		FlushErrorState();
		release(reader);
		reader->owner = ResourceOwnerCreate(owner, "join sample");
		/* Catching an error takes time, so one block is charged to the budget for it. */
		bloomfam_sample_spend(reader->budget, 1, 0);
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	return meets;
}
