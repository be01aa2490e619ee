/** An attribute as RFC 7643, section 7 describes it: what `GET /Schemas` tells, and what bodies, paths and filters are held against. */
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
  /** Its URN. */
  id: string
  name: string
  description: string
  attributes: readonly AttributeDefinition[]
}

/** A kind of resource: its schema, and those that extend it. */
export interface ResourceDefinition {
  /** Of `meta.resourceType`. */
  name: 'User' | 'Group'
  endpoint: '/Users' | '/Groups'
  description: string
  schema: SchemaDefinition
  extensions: readonly SchemaDefinition[]
  /** `schemas`, `id`, `externalId`, `meta`: of every resource (RFC 7643, section 3.1). */
  common: readonly AttributeDefinition[]
}
