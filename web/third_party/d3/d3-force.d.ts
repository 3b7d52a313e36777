// What the web view uses of d3-force.

declare module 'd3-force' {
  export interface Body { index?: number; x?: number; y?: number; vx?: number; vy?: number }
  export interface Bond { source: number | Body; target: number | Body }
  export interface Force { (alpha: number): void }
  export interface LinkForce extends Force { distance(d: number): this }
  export interface BodyForce extends Force { strength(s: number): this; distanceMax(d: number): this; theta(t: number): this }
  export interface PlaceForce extends Force { strength(s: number): this }
  export interface Simulation {
    stop(): this;
    tick(n?: number): this;
    alpha(): number;
    alpha(a: number): this;
    alphaMin(): number;
    force(name: string, force: Force): this;
  }
  export function forceSimulation(bodies: Body[]): Simulation;
  export function forceLink(bonds: Bond[]): LinkForce;
  export function forceManyBody(): BodyForce;
  export function forceX(x: number): PlaceForce;
  export function forceY(y: number): PlaceForce;
  export function forceCollide(radius: number): Force;
}
