/**
 * An attribute as in RFC 7643, section 7. `GET /Schemas` returns it, and bodies, paths and filters are validated
 * against it.
 */
export interface AttributeDefinition {
  name: string
  type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex'
  multiValued: boolean
  description: string
  required: boolean
  caseExact: boolean
  mutability: 'readWrite' | 'readOnly' | 'immutable'
  returned: 'always' | 'default'
  uniqueness: 'none' | 'server'
  referenceTypes?: readonly string[]
  canonicalValues?: readonly string[]
  subAttributes?: readonly AttributeDefinition[]
}

export interface SchemaDefinition {
  /** The URN of the schema. */
  id: string
  name: string
  description: string
  attributes: readonly AttributeDefinition[]
}

/** A kind of resource: its schema and its extensions. */
export interface ResourceDefinition {
  /** The value of `meta.resourceType`. */
  name: 'User' | 'Group'
  endpoint: '/Users' | '/Groups'
  description: string
  schema: SchemaDefinition
  extensions: readonly SchemaDefinition[]
  /** The attributes `schemas`, `id`, `externalId` and `meta` of every resource (RFC 7643, section 3.1). */
  common: readonly AttributeDefinition[]
}
