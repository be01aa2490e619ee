import { addressSearch, text } from '../../components/search-schemas.ts'

/** The id of the connector whose details are open. */
export const connectorsSearch = addressSearch({ connector: text(64) })
