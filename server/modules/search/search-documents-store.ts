import type { TenantTx } from '../../db/database.ts'

/** A record's words by weight, each a text of words that are separated by spaces. */
export interface SearchDocument {
  recordId: string
  recordType: string
  /** The skill of an output, by which searches are narrowed. */
  skillId: string | null
  words: Readonly<Record<'A' | 'B' | 'C' | 'D', string>>
}

/** Stores the words of records in the language of the tenant, over those of an earlier language. */
export async function putDocuments(tx: TenantTx, documents: readonly SearchDocument[]): Promise<void> {
  if (documents.length === 0) return
  const wordsOf = (weight: keyof SearchDocument['words']) => documents.map(({ words }) => words[weight])
  await tx.client.query(
    `insert into hub.search_documents (tenant_id, record_id, record_type, words)
     select $1::text, d.record_id, d.record_type,
       setweight(to_tsvector(l.language, d.a), 'A') || setweight(to_tsvector(l.language, d.b), 'B')
         || setweight(to_tsvector(l.language, d.c), 'C') || setweight(to_tsvector(l.language, d.d), 'D')
         || array_to_tsvector(array_remove(array['@' || $1::text, '#' || d.skill_id], null))
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       as d (record_id, record_type, a, b, c, d, skill_id),
       (select coalesce((select search_language from hub.tenant_settings where tenant_id = $1), 'simple')::regconfig
         as language) l
     on conflict (tenant_id, record_id) do update set words = excluded.words`,
    [
      tx.tenantId,
      documents.map(({ recordId }) => recordId),
      documents.map(({ recordType }) => recordType),
      wordsOf('A'),
      wordsOf('B'),
      wordsOf('C'),
      wordsOf('D'),
      documents.map(({ skillId }) => skillId),
    ],
  )
}

/** The place of a tenant's indexing in the records of a type. */
export interface IndexProgress {
  language: string
  record_type: string
  after_id: string
  finished_at: string | null
}

/** Returns the language of the tenant, and the progress of its indexing; undefined before it began. */
export async function findProgress(tx: TenantTx): Promise<{ language: string; progress: IndexProgress | undefined }> {
  const settings = await tx.db
    .selectFrom('hub.tenant_settings')
    .select('search_language')
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirst()
  const progress = await tx.db
    .selectFrom('hub.search_progress')
    .select(['language', 'record_type', 'after_id', 'finished_at'])
    .where('tenant_id', '=', tx.tenantId)
    .executeTakeFirst()
  return { language: settings?.search_language ?? 'simple', progress }
}

export async function putProgress(tx: TenantTx, progress: IndexProgress): Promise<void> {
  await tx.db
    .insertInto('hub.search_progress')
    .values({ tenant_id: tx.tenantId, ...progress })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet((excluded) => ({
        language: excluded.ref('excluded.language'),
        record_type: excluded.ref('excluded.record_type'),
        after_id: excluded.ref('excluded.after_id'),
        finished_at: excluded.ref('excluded.finished_at'),
      })),
    )
    .execute()
}

/** Returns the ids and sizes in bytes of the next records of a type. Requires a transaction of `inIndexOrder`. */
export async function findUnindexed(
  tx: TenantTx,
  recordType: string,
  afterId: string,
  count: number,
): Promise<{ record_id: string; bytes: number }[]> {
  const { rows } = await tx.client.query<{ record_id: string; bytes: number }>(
    `select record_id, octet_length(canonical) as bytes from hub.records
     where tenant_id = $1 and record_type = $2 and record_id > $3 order by record_id limit $4`,
    [tx.tenantId, recordType, afterId, count],
  )
  return rows
}
