import { addressSearch } from '../../components/search-schemas.ts'
import { rangeEntries } from '../command-center/range-entries.ts'

/** The state of the page of a skill, person, model or archetype in its address. */
export const usageSearch = addressSearch(rangeEntries)
