import { addressSearch, text } from '../../components/search-schemas.ts'

/** The filters for rows and columns of the matrix. */
export const grantsSearch = addressSearch({ skill: text(128), archetype: text(128) })
