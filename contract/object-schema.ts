import { type TProperties, type TSchemaOptions, Type } from 'typebox'

/** Returns the schema of an object that has no other members than these. */
export const object = <Properties extends TProperties>(properties: Properties, options: TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })
