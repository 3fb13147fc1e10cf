/**
 * What the bundler turns JSX into. The classic form is a few kilobytes smaller
 * than the automatic one.
 *
 * @module
 */

export { Fragment, h } from "preact";
