import type { Static } from 'typebox'
import type { ApplicationSchema, CoworkBodySchema, CoworkSchema } from './coworks-schemas.ts'

/** A pack as the caller sends it. */
export type CoworkBody = Static<typeof CoworkBodySchema>
export type Cowork = Static<typeof CoworkSchema>
/**
 * A skill of a pack, with the members of its future skill_definition record. Once the record is erased or the key
 * destroyed, the name is empty and optional members are absent.
 */
export type CoworkSkill = Cowork['skills'][number]
/** The result of applying a pack, or its preview with `dry_run`. */
export type Application = Static<typeof ApplicationSchema>
