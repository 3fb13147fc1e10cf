export { keyPart } from "../core/key_part.ts";
