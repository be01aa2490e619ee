import type { Static } from 'typebox'
import type { Caller, Tenant } from '../../../http/caller.ts'
import type {
  ApplicationBody,
  ApplicationSchema,
  CoworkBodySchema,
  CoworkList,
  CoworkSchema,
} from './coworks-schemas.ts'

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

/**
 * Manages packs. Methods about one pack throw `not-found` if it is not stored; {@link Coworks.replace} stores it
 * instead.
 */
export interface Coworks {
  list(tenant: Tenant, page: { limit: number; cursor?: string | undefined }): Promise<Static<typeof CoworkList>>
  get(tenant: Tenant, coworkId: string): Promise<Cowork>
  /**
   * Stores a pack without applying it. Repeating it changes nothing and writes no event. Throws `validation-failed`
   * with a pointer to each duplicate skill or archetype, and to each archetype outside the bundle.
   */
  replace(caller: Caller, coworkId: string, body: CoworkBody): Promise<Cowork>
  /**
   * Applies a pack: registers its missing versions, publishes its skills, grants them to the archetypes, and revokes
   * the grants that the pack no longer contains, in one transaction with one event. Grants that another applied pack
   * contains stay. Repeating it changes nothing and writes no event. Throws `validation-failed` for archetypes outside
   * the bundle and for unregistered versions whose names were lost with a key, `skill-not-registered` for retired
   * skills (pointers into the pack), and `hub-not-provisioned`.
   */
  apply(caller: Caller, coworkId: string, request: Static<typeof ApplicationBody>): Promise<Application>
  /** Returns the last application that changed something. Throws `not-found` before the first. */
  application(tenant: Tenant, coworkId: string): Promise<Application>
}
